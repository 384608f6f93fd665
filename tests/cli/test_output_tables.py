"""Tables are recognized by suffix, refused before work begins, and written as CSV, TSV or JSON lines."""

import csv
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from regard.cli.inputs import has_suffix
from regard.cli.predict.answers import check_out, print_results, write_results
from regard.errors import ConfigError
from regard.pipelines.result_tables import ResultTable
from regard.pipelines.text_tables import TextTable

CELLS = [["id", "text"], ["1", 'a "b", c'], ["2", "x\ty\nz"]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.csv", True), ("a.TSV", True), ("a.jsonl.gz", True), ("a.txt", False), ("csv", False), ("a.gz", False)],
)
def test_a_table_is_recognized_by_its_suffix(name, expected):
    assert has_suffix(Path(name)) is expected and not has_suffix(None)


class Table(ResultTable):
    """A table whose cells are at hand."""

    def cells(self):
        return CELLS

    def records(self):
        return [{"text": "größer\n", "label": None}, {"text": "b", "label": 1}]


TABLE = Table(TextTable([], [], [], []), [None, None])


def test_cells_survive_csv_and_lose_only_separators_in_tsv(tmp_path, capsys):
    write_results(TABLE, tmp_path / "a.csv", False)
    with (tmp_path / "a.csv").open(newline="") as file:
        assert list(csv.reader(file)) == CELLS
    write_results(TABLE, tmp_path / "a.tsv", False)
    assert (tmp_path / "a.tsv").read_text() == 'id\ttext\n1\ta "b", c\n2\tx y z\n'
    assert capsys.readouterr().out == f"{tmp_path / 'a.csv'}: 2 rows.\n{tmp_path / 'a.tsv'}: 2 rows.\n"
    write_results(TABLE, None, False)
    assert capsys.readouterr().out.startswith('id,text\n1,"a ""b"", c"\n')


def test_records_are_one_json_object_per_line(capsys):
    write_results(TABLE, None, True)
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line) for line in lines] == TABLE.records() and "größer" in lines[0]


def test_an_output_that_cannot_be_written_is_refused(tmp_path):
    check_out(None)
    check_out(tmp_path / "a")
    for path, sentence in (
        (tmp_path / "none" / "a.csv", f"there is no folder {tmp_path / 'none'}; create it, or name another file."),
        (tmp_path, "this is a folder; name a file inside it."),
        (tmp_path / "a.xlsx", 'no table is written as ".xlsx"; use .csv, .tsv or .jsonl.'),
    ):
        with pytest.raises(ConfigError) as error:
            check_out(path)
        assert str(error.value) == f"--out {path}: {sentence}"


class Single(ResultTable):
    """A table of one cell."""

    def cells(self):
        return [["x"], ["1"]]

    def records(self):
        return [{"x": 1}]


@pytest.mark.parametrize(
    ("name", "json", "text"),
    [("a.csv", False, "x\n1\n"), ("a.csv", True, '{"x": 1}\n'), ("a.jsonl", False, '{"x": 1}\n')],
)
def test_a_table_is_json_lines_if_the_flag_or_the_suffix_is(name, json, text, tmp_path):
    table = Single(TextTable([], [], [], []), [None])
    write_results(table, tmp_path / name, json)
    assert (tmp_path / name).read_text() == text


def test_results_may_write_files_of_their_own_and_have_numbered_lines(tmp_path, capsys):
    class Own(SimpleNamespace):
        files = (".own",)

        @classmethod
        def write(cls, path, results):
            path.write_text(" ".join(each.text for each in results))

        def numbered(self, number):
            return [f"{number}\t{line}" if number else line for line in self.lines()]

    own = [Own(text="a", lines=lambda: ["a", "b"], to_dict=dict), None, Own(text="c", lines=lambda: ["c"])]
    plain, numbered = (SimpleNamespace(is_numbered=each, is_block=False) for each in (False, True))
    check_out(tmp_path / "a.own", Own.files)
    write_results(ResultTable(TextTable([], [], [], []), own), tmp_path / "a.own", False)
    assert (tmp_path / "a.own").read_text() == "a c" and capsys.readouterr().out.endswith("a.own: 2 rows.\n")
    print_results(plain, own, False)
    print_results(numbered, own, False, 7)
    print_results(plain, own[:2], True)
    assert capsys.readouterr().out == "a\nb\n\nc\n" + "7\ta\n7\tb\n9\tc\n" + "{}\nnull\n"
