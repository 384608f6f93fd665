"""Verbs made of operations: rows of arguments, lines, files and tables, results as lines, JSON and tables."""

import csv
import json
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Annotated

import pytest

from labeled import Telling
from regard.cli import inputs
from regard.cli.options import Given
from regard.cli.predict import operations
from regard.cli.predict.answers import Call
from regard.cli.verb import ListedVerbs
from regard.config.schema import Doc
from regard.errors import ConfigError, DataError
from regard.pipelines.base import Options, Pipeline, Result
from regard.tasks.declarations import Operation


@dataclass(frozen=True)
class Sum:
    """Two texts."""

    one: Annotated[str, Doc("The one text.")]
    other: Annotated[str, Doc("The other text.")]


class SumOptions(Options):
    times: int = 1
    """Repetitions."""


@dataclass(frozen=True)
class Joined(Result):
    row: Sum
    joined: str
    is_truncated: bool = False
    columns = ("joined",)

    @property
    def text(self) -> str:
        return self.joined


class Joiner(Pipeline[Sum, SumOptions, Joined]):
    """A pipeline without a model."""

    row, inputs, options_class, columns = Sum, ("one", "other"), SumOptions, {}

    def __init__(self) -> None:
        self.bundle = SimpleNamespace(facts={})

    def check(self, row, options, where):
        if not (row.one.strip() and row.other.strip()):
            raise ConfigError(f"{where} is empty; give some text.")

    def predict(self, rows, options, progress=None):
        return [Joined(row, (row.one + row.other) * options.times, len(row.one) > 5) for row in rows]

    def read_rows(self, path, columns, progress):
        return [Sum("x", "y")]


JOIN = Operation(
    "join", "Join texts.", Sum, ("one", "other"), SumOptions, Joined, formats=(".rows",), shared=("other",)
)


TASK = SimpleNamespace(name="x", loads=())


@pytest.fixture
def join(monkeypatch, capsys):
    """The verb over a pipeline without a model; returns what is printed."""
    monkeypatch.setattr("regard.tasks.load.load", lambda *_, **__: Joiner())
    verb = operations.operation_verb(TASK, JOIN)

    def run(*words, **flags) -> str:
        verb("run", list(words) or None, quiet=flags.pop("quiet", True), **flags)
        return capsys.readouterr().out

    return run


@pytest.fixture
def lines(tmp_path):
    def write(text, name="in.txt"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_arguments_are_the_fields_of_rows_in_turn(join):
    assert join("a", "b", "c", "d") == "ab\ncd\n" and join("a", "b", times=2) == "abab\n"
    record = json.loads(join("a", "b", json=True))
    assert record == {"one": "a", "other": "b", "joined": "ab", "is_truncated": False}


def test_lines_are_rows_in_order_and_blank_lines_stay(join, lines, monkeypatch):
    monkeypatch.setattr(inputs, "CHUNK", 2)
    file = lines("a\tb\n\n \nc\td\n")
    assert join(file=file) == "ab\n\n\ncd\n"
    assert [json.loads(line) and "row" for line in join(file=file, json=True).splitlines()] == [
        "row",
        None,
        None,
        "row",
    ]


def test_chunks_of_rows_are_lines_or_arguments_in_turn(lines, monkeypatch):
    monkeypatch.setattr(inputs, "CHUNK", 2)
    call = Call(JOIN, Joiner(), Given(other=None))
    file = lines("a\tb\n\nc\td\n")
    first, second = call.chunks(None, file)
    assert first == [{"one": "a", "other": "b"}, None] and second == [{"one": "c", "other": "d"}]
    assert list(call.chunks(["a", "b", " ", ""], None)) == [first]
    with pytest.raises(DataError, match="line 3: put one and other on a line, separated by tabs."):
        list(call.chunks(None, lines("a\tb\n\nc\n")))
    with pytest.raises(DataError, match="3 texts were given, but a row of this model has one and other; give all of"):
        list(call.chunks(["a", "b", "c"], None))


def test_a_mistake_in_a_later_chunk_has_its_line(join, lines, monkeypatch):
    monkeypatch.setattr(inputs, "CHUNK", 2)
    with pytest.raises(ConfigError, match="line 4 is empty"):
        join(file=lines("a\tb\n\nc\td\n \te\n"))


def test_a_field_may_be_the_same_for_all_rows(join, lines):
    other = lines("!", "other.txt")
    assert join("a", "b", other=other) == "a!\nb!\n" and join(file=lines("a\n\nb\n"), other=other) == "a!\n\nb!\n"
    with pytest.raises(ConfigError, match="--other: in.csv has its own other in every row; leave one of them out."):
        operations.check_inputs(
            JOIN, None, Given(file=inputs.Path("in.csv"), other=other, one_column=None, other_column=None), None
        )


def test_a_file_of_the_tasks_own_format_is_read_by_its_pipeline(join, lines):
    assert join(file=lines("whatever", "a.rows")) == "xy\n"


def test_a_table_comes_back_with_a_column_more(join, lines, tmp_path):
    file = lines("n,left,right\n1,a,b\n2,,\n", "in.csv")
    columns = {"one_column": ["left"], "other_column": "right"}
    assert join(file=file, **columns) == "n,left,right,joined\n1,a,b,ab\n2,,,\n"
    assert join(file=file, one_column=["left", "right"]) == join(file=file, **columns)
    with pytest.raises(ConfigError, match="--one-column n: one column too many; leave this one out."):
        join(file=file, one_column=["left", "right", "n"])
    assert join(file=file, **columns, out=tmp_path / "out.jsonl") == f"{tmp_path / 'out.jsonl'}: 2 rows.\n"
    assert json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])["joined"] == "ab"


def test_rows_of_any_source_can_be_written_to_a_table(join, lines, tmp_path):
    assert join(file=lines("a\tb\n\nc\td\n"), out=tmp_path / "o.csv") == f"{tmp_path / 'o.csv'}: 3 rows.\n"
    with (tmp_path / "o.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [
            ["one", "other", "joined"],
            ["a", "b", "ab"],
            ["", "", ""],
            ["c", "d", "cd"],
        ]


def test_truncated_rows_are_counted_once(lines, monkeypatch):
    monkeypatch.setattr(inputs, "CHUNK", 1)
    given = Given(file=lines("longest\tb\na\tb\nlongest\tb\n"), json=None)
    given.progress = reporter = Telling()
    Call(JOIN, Joiner(), given).answer(None, None)
    assert reporter.warned == ["2 of the texts are longer than the model's maximum length and were truncated."]


def test_contradictions_are_refused_before_a_model_is_loaded(lines):
    verb = operations.operation_verb(TASK, JOIN)
    for flags, sentence in (
        ({"file": lines("a"), "inputs": ["a"]}, "Give either texts or --file, not both."),
        ({"one_column": ["a"], "other_column": "b"}, "--one-column and --other-column are for tables; give one with"),
        ({"out": lines("", "o.xlsx")}, 'no table is written as ".xlsx"; use .csv, .tsv or .jsonl.'),
    ):
        with pytest.raises(ConfigError, match=sentence):
            verb("missing", **flags)


def test_the_help_of_a_verb_is_made_of_its_operation():
    text = operations.operation_verb(TASK, JOIN).__doc__
    assert (
        text.startswith("Join texts.\n\nAn input line is one TAB other; blank lines are kept.") and "(joined)" in text
    )
    assert "text [TAB second]" in ListedVerbs()["classify"].help and "is text; blank" in ListedVerbs()["tag"].help
