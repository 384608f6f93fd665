"""Each flag of `regard evaluate` for a model of each task: honored, or refused by its name and the kind of model."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from commands import bad, good
from every_task import TASKS
from regard.checkpoint.bundle import read_bundle
from regard.checkpoint.facts import TaskFacts
from regard.cli.verbs.evaluate import evaluate
from regard.runs.run import Run
from regard.tasks.contract import find_task

TEXTS = ("language-model", "masked-language-model", "elmo")
LABELED = ("classify", "regress")
TABLES = (*LABELED, "tag", "answer", "choose")
ALL = ("translate", *TABLES, *TEXTS)

Scores = dict[str, dict[str, Any]]


@dataclass
class Desk:
    """A copy of the run of a task, the data it was trained on, and other data."""

    task: str
    run: Path
    data: Path
    """The folder of the training data, without its last rows in `half`."""

    @property
    def file(self) -> Path:
        """The one file of examples or of text."""
        return next(path for path in self.data.iterdir() if path.suffix not in (".de", ".en", ".tsv"))

    @property
    def own_data(self) -> list[Any]:
        """The flags that name the training data."""
        if self.task == "translate":
            return ["--source", self.data / "a.de", "--target", self.data / "a.en"]
        return ["--data" if self.task in TABLES else "--text", self.file]

    def scores(self, *words: Any) -> Scores:
        """Return what `regard evaluate` computes."""
        scores: Scores = json.loads(good("evaluate", self.run, *words, "--quiet", "--json"))
        return scores


@pytest.fixture(params=TASKS)
def desk(request, tiny_runs, tmp_path) -> Desk:
    task = request.param
    shutil.copytree(tiny_runs / task, tmp_path / "run")
    shutil.copytree(tiny_runs / f"{task}-data", tmp_path / "data")
    return Desk(task, tmp_path / "run", tmp_path / "data")


@dataclass(frozen=True)
class Flag:
    """A flag: the tasks that honor it, how, and the words that give it to all others."""

    tasks: tuple[str, ...]
    check: Callable[[Desk], None]
    words: list[str] = field(default_factory=lambda: ["x"])
    needs_data: bool = False
    """It is given together with the training data where it is refused."""


def _size(values: dict[str, Any]) -> int:
    return int(next(values[key] for key in ("sentences", "examples", "tokens", "masked", "words") if key in values))


def _other_data(desk: Desk) -> None:
    """All training data is more than what was held out of it for validation."""
    (own,), (other,) = desk.scores().values(), desk.scores(*desk.own_data).values()
    assert other["name"] != own["name"] and _size(other) > _size(own)


def _pairs_in_a_table(desk: Desk) -> None:
    table = desk.data / "pairs.tsv"
    table.write_text("Der Hund schläft.\tThe dog sleeps.\nJa.\tYes.\n")
    ((name, scores),) = desk.scores("--data", table).items()
    assert name == str(table) and scores["sentences"] == 2


def _completions_in_a_table(desk: Desk) -> None:
    """They are for models with a chat template, which this one has not."""
    table = desk.data / "chats.jsonl"
    table.write_text(json.dumps({"prompt": "Who sleeps?", "completion": "The dog."}) + "\n")
    assert bad("evaluate", desk.run, "--data", table).startswith(f"{table}: this model has no chat template; ")


def _data(desk: Desk) -> None:
    special = {"translate": _pairs_in_a_table, "language-model": _completions_in_a_table}
    special.get(desk.task, _other_data)(desk)


def _text_column(desk: Desk) -> None:
    """Other columns hold other texts, so the loss is another."""
    label = (
        TaskFacts.read(read_bundle(Run(desk.run).best)).model_dump()["labels"][0] if desk.task == "classify" else 1
    )
    table, seconds = desk.data / "three.csv", ["--text-column", "same"] if desk.task == "regress" else []
    rows = [f"hat book hat,key cup,hat,{label}"] * 8
    table.write_text("one,two,same,label\n" + "".join(row + "\n" for row in rows))
    words = ["--data", table, "--label-column", "label"]
    first, second = (
        next(iter(desk.scores(*words, "--text-column", name, *seconds).values())) for name in ("one", "two")
    )
    assert first["examples"] == second["examples"] == 8 and first["loss"] != second["loss"]


def _label_column(desk: Desk) -> None:
    """A column that is not there is refused by its name, so the flag was looked at; the right one is read."""
    name = {"classify": "label", "regress": "score", "choose": "label", "tag": "1"}[desk.task]
    assert _size(next(iter(desk.scores(*desk.own_data, "--label-column", name).values()))) > 0
    assert "nowhere" in bad("evaluate", desk.run, *desk.own_data, "--label-column", "nowhere", "--quiet")


def _stride(desk: Desk) -> None:
    near, far = (desk.scores("--stride", stride)["valid"] for stride in (4, 32))
    assert (near["decode"]["stride"], far["decode"]["stride"]) == (4, 32) and near["loss"] != far["loss"]
    assert (desk.run / "scores" / "valid.stride=4.json").is_file()
    assert near["tokens"] == far["tokens"]


def _beam_size(desk: Desk) -> None:
    assert desk.scores("--beam-size", 2)["valid"]["decode"]["beam_size"] == 2
    assert (desk.run / "scores" / "valid.beam_size=2.json").is_file()


def _max_source_length(desk: Desk) -> None:
    """A sentence that is longer counts as an empty translation."""
    short, whole = desk.scores("--max-source-length", 2)["valid"], desk.scores()["valid"]
    assert short["decode"]["max_source_length"] == 2 and short["bleu"] == 0 and short["loss"] != whole["loss"]


def _threshold(desk: Desk) -> None:
    """It is for multi-label models, and this one has a label a text."""
    sentence = bad("evaluate", desk.run, "--threshold", 0.4, "--quiet")
    assert sentence == "valid: threshold 0.4 is for multi-label models; this one is a single-label model."


def _papers(desk: Desk) -> None:
    assert len(desk.scores("--papers")["valid"]["paper_scores"]) == 2
    assert "paper_scores" not in desk.scores()["valid"]


def _test_set(desk: Desk) -> None:
    assert list(desk.scores("--test-set", "valid")) == ["valid"]
    assert bad("evaluate", desk.run, "--test-set", "tset", "--quiet") == (
        f"--test-set tset: {desk.run} is {find_task(desk.task).wording.noun}, whose test sets are valid; name one of "
        "these."
    )
    assert bad("evaluate", desk.run, "--test-set", "valid", *desk.own_data).startswith(
        "--test-set valid picks one of"
    )


def _against(desk: Desk) -> None:
    against = desk.scores("--against", desk.run)["valid"]["against"]
    assert against["differences"] and all(each["p"] == 1 for each in against["differences"])


def _out(desk: Desk) -> None:
    out = desk.run.with_name("passport.json")
    assert desk.scores("--out", out)["valid"]["files"][0] == str(out)
    passport = json.loads(out.read_text())
    assert passport["set"] == "valid" and (out.parent / passport["outputs"]["file"]).is_file()


def _nothing(desk: Desk) -> None:
    raise AssertionError(f"{desk.task} honors no such flag")


FLAGS = {
    "--data": Flag(("translate", "language-model", *TABLES), _data),
    "--source": Flag(("translate",), _other_data),
    "--target": Flag(("translate",), _other_data),
    "--text": Flag(TEXTS, _other_data),
    "--source-column": Flag(("translate",), lambda desk: _column(desk, "--source-column"), needs_data=True),
    "--target-column": Flag(("translate",), lambda desk: _column(desk, "--target-column"), needs_data=True),
    "--text-column": Flag(LABELED, _text_column, needs_data=True),
    "--label-column": Flag(("classify", "regress", "tag", "choose"), _label_column, needs_data=True),
    "--stride": Flag(("language-model",), _stride, ["4"]),
    "--beam-size": Flag(("translate",), _beam_size, ["2"]),
    "--iterations": Flag((), _nothing, ["2"]),  # for mask-predict translators, below
    "--max-source-length": Flag(("translate",), _max_source_length, ["2"]),
    "--papers": Flag(("translate",), _papers, []),
    "--threshold": Flag(("classify",), _threshold, ["0.4"]),
    "--analogies": Flag((), _nothing),  # for word vectors, below
    "--similarities": Flag((), _nothing),
    "--candidates": Flag((), _nothing, ["2"]),
    "--test-set": Flag(ALL, _test_set),
    "--against": Flag(ALL, _against),
    "--out": Flag(ALL, _out, ["x.json"]),
}
VECTORS = ("--analogies", "--similarities", "--candidates", "--test-set", "--against", "--out")
"""Flags that word vectors honor, on files: in a test of their own."""
GENERAL = {"--device", "--threads", "--processes", "--quiet", "--json"}
"""Flags that are the same for every model."""


def _column(desk: Desk, flag: str) -> None:
    table = desk.data / "pairs.tsv"
    table.write_text("Ja.\tYes.\tJa, ja.\tYes, yes.\nNein.\tNo.\tNein, nein.\tNo, no.\n")
    first, second = (1, 3) if flag == "--target-column" else (0, 2)
    hashes = [
        next(iter(desk.scores("--data", table, flag, column).values()))["test_set"] for column in (first, second)
    ]
    side = "references" if flag == "--target-column" else "sources"
    assert hashes[0][side] != hashes[1][side]


def test_every_flag_of_the_verb_is_in_the_matrix():
    from typer.main import get_command_from_info
    from typer.models import CommandInfo

    command = get_command_from_info(
        CommandInfo(name="evaluate", callback=evaluate), pretty_exceptions_short=True, rich_markup_mode=None
    )
    names = {option.opts[0] for option in command.params if option.param_type_name == "option"} - {"--help"}
    assert names == {*FLAGS, *GENERAL}


@pytest.mark.parametrize("name", FLAGS)
def test_a_flag_is_honored_or_refused_by_its_name_and_the_kind_of_model(name, desk):
    flag = FLAGS[name]
    if desk.task in flag.tasks:
        flag.check(desk)
        return
    data = desk.own_data if flag.needs_data and desk.task != "vectors" else []
    if desk.task == "vectors" and name in VECTORS:
        return
    sentence = bad("evaluate", desk.run, *data, name, *flag.words, "--quiet")
    kind = find_task(desk.task).wording.noun
    assert sentence.startswith(f"{' '.join([name, *flag.words])}: ")
    assert kind in sentence or kind.replace("a ", "an autoregressive ", 1) in sentence, sentence


def test_a_column_without_a_table_is_refused(tiny_runs):
    run = tiny_runs / "translate"
    sentence = "names a column of the table that {}, a translator, is scored on, and {}; leave it out."
    words = ["--source", "a.de", "--target", "a.en", "--source-column", "1"]
    expected = "--source-column 1: this " + sentence.format(run, "there is no --data")
    assert bad("evaluate", run, *words) == bad("evaluate", run, *words[-2:]) == expected
    assert bad("evaluate", run, "--data", "miniature:test", "--target-column", "en") == (
        "--target-column en: this " + sentence.format(run, "miniature:test has none")
    )


def test_iterations_are_for_mask_predict_translators_and_beams_for_all_others(masked_run, tiny_runs):
    words = ("evaluate", masked_run.path, "--test-set", "test", "--quiet")
    scores = json.loads(good(*words, "--iterations", "2", "--json"))
    assert scores["test"]["decode"]["iterations"] == 2
    assert bad(*words, "--beam-size", "2") == (
        f"--beam-size 2: for autoregressive translators, and {masked_run.path} is a mask-predict translator; leave "
        "it out."
    )
    other = tiny_runs / "translate"
    assert bad(*words, "--iterations", "2", "--against", other) == (
        f"--iterations 2: for mask-predict translators, and {other} is an autoregressive translator; leave it out."
    )


def test_word_vectors_are_scored_on_files_and_honor_every_flag_there(tiny_runs, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(tiny_runs / "vectors", run)
    assert bad("evaluate", run) == (
        f"{run}: the settings of this run name no test sets; use regard evaluate {run} with --analogies FILE or "
        "--similarities FILE."
    )
    (tmp_path / "rated.txt").write_text("the\ta\t9\nthe\tand\t3\na\tand\t1\n")
    (tmp_path / "analogies.txt").write_text(": words\nthe a and the\n")
    files = {"analogies": str(tmp_path / "analogies.txt"), "similarities": [str(tmp_path / "rated.txt")]}
    flags = ["--analogies", files["analogies"], "--similarities", files["similarities"][0]]
    both = json.loads(good("evaluate", run, *flags, "--quiet", "--json"))
    assert both["analogies"]["questions"] == both["analogies"]["covered"] == 1 and len(both) == 2
    few = json.loads(good("evaluate", run, *flags[:2], "--candidates", "1", "--quiet", "--json"))
    assert few["analogies"]["covered"] == 0 and few["analogies"]["accuracy"] is None
    names = {"analogies.json", "analogies.candidates=1.json", "rated.txt.json"}
    assert names <= {path.name for path in (run / "scores").iterdir()}
    record = json.loads((run / "run.json").read_text())
    record["settings"]["evaluation"] = record["settings"].get("evaluation", {}) | files
    (run / "run.json").write_text(json.dumps(record))
    out = tmp_path / "one.json"
    words = ("evaluate", run, "--test-set", files["similarities"][0], "--against", run, "--out", out)
    ((name, one),) = json.loads(good(*words, "--quiet", "--json")).items()
    assert name == files["similarities"][0] and {each["p"] for each in one["against"]["differences"]} == {1.0}
    assert json.loads(out.read_text())["set"] == name
    assert "rated.txt" in good("evaluate", run, "--quiet") and "Spearman" in (run / "README.md").read_text()
    vectors = tmp_path / "words.vec"
    vectors.write_text("3 2\nthe 1 0\na 0.9 0.1\nand 0 1\n")
    assert "Spearman" in good("evaluate", vectors, *flags[2:], "--against", run, "--quiet")
