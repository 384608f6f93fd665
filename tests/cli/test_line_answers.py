"""One prediction per line, in order: blank lines, pairs, chunks and truncated texts."""

from types import SimpleNamespace

import pytest

from labeled import Telling
from regard.cli import answers, inputs
from regard.errors import ConfigError, DataError


def upper(texts, where, progress):
    """A stub pipeline: its line and upper-cased text; texts of more than five characters are truncated."""
    return [
        SimpleNamespace(text=f"{line} {text.upper()}", is_truncated=len(text) > 5)
        for line, text in zip(where, texts, strict=True)
    ]


def test_results_have_the_line_numbers_of_the_whole_input_and_blank_lines_are_none(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "CHUNK", 2)
    (tmp_path / "a.txt").write_text("a\n\n \nb\nlonger\nlongest\n")
    shown, reporter = [], Telling()
    answers.answer_lines(upper, None, tmp_path / "a.txt", shown.append, reporter)
    assert [each and each.text for each in shown] == [
        "line 1 A",
        None,
        None,
        "line 4 B",
        "line 5 LONGER",
        "line 6 LONGEST",
    ]
    assert reporter.warned == ["2 of the texts are longer than the model's maximum length and were truncated."]


def test_nothing_is_warned_of_where_nothing_is_truncated():
    reporter = Telling()
    answers.answer_lines(upper, ["a"], None, lambda _: None, reporter)
    assert reporter.warned == []


def test_pairs_are_two_arguments_or_a_tab_separated_line():
    assert answers.as_pairs(["a", "b", "c", "d"], 1, is_given=True) == [("a", "b"), ("c", "d")]
    assert answers.as_pairs(["a\tb", "", "c\td"], 1, is_given=False) == [("a", "b"), None, ("c", "d")]
    with pytest.raises(DataError, match="This model takes text pairs, but 3 texts were given; give two per pair."):
        answers.as_pairs(["a", "b", "c"], 1, is_given=True)
    with pytest.raises(DataError, match="line 1,001: this model takes text pairs; put a tab between the two texts."):
        answers.as_pairs(["a\tb\tc"], 1001, is_given=False)


def test_fields_are_counted_and_lines_numbered_across_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "CHUNK", 2)
    path = tmp_path / "a.txt"
    path.write_text("a\tb\n\nc\td\n")
    assert list(answers.split_lines(path, "x", (2,))) == [[("a", "b"), ()], [("c", "d")]]
    path.write_text("a\tb\n\nc\n")
    with pytest.raises(DataError, match="line 3: put two fields on a line, separated by tabs."):
        list(answers.split_lines(path, "two fields", (2,)))


def test_flags_of_tables_need_a_table(tmp_path):
    answers.check_inputs(None, tmp_path / "a.csv.gz", {"text_column": ["x"], "out": tmp_path / "b.csv"})
    answers.check_inputs(["a"], None, {"text_column": None, "out": None})
    with pytest.raises(ConfigError, match="Give either texts or --file, not both."):
        answers.check_inputs(["a"], tmp_path / "a.txt", {})
    with pytest.raises(ConfigError, match="--text-column and --out are for tables; give one with --file."):
        answers.check_inputs(None, tmp_path / "a.txt", {"text_column": ["x"], "out": None})


@pytest.mark.parametrize(
    ("name", "json", "text"),
    [("a.csv", False, "x\n1\n"), ("a.csv", True, '{"x": 1}\n'), ("a.jsonl", False, '{"x": 1}\n')],
)
def test_a_table_is_json_lines_if_the_flag_or_the_suffix_is(name, json, text, tmp_path):
    table = SimpleNamespace(records=lambda: [{"x": 1}], cells=lambda: [["x"], ["1"]])
    answers.write_table(table, tmp_path / name, json)
    assert (tmp_path / name).read_text() == text
