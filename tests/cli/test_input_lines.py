"""Input lines come from arguments, a file or standard input, in chunks and in order."""

import io
import sys

import pytest

from regard.cli import inputs
from regard.errors import DataError
from regard.pipelines.row_format import RowFormat


class Stdin(io.TextIOWrapper):
    """Standard input with these bytes, in a terminal or not."""

    def __init__(self, data: bytes, is_terminal: bool = False) -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8")
        self.is_terminal = is_terminal

    def isatty(self):
        return self.is_terminal


def test_arguments_are_one_chunk_and_nothing_else_is_read(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "stdin", None)
    assert list(inputs.chunks(["a", "b"], tmp_path / "missing")) == [["a", "b"]]


@pytest.mark.parametrize("count", [0, 1, 3, 4, 7])
def test_a_file_and_standard_input_give_the_same_chunks(count, tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "CHUNK", 3)
    lines = [f"line {number}" if number % 2 else "" for number in range(count)]
    data = "".join(f"{line}\n" for line in lines).encode()
    (tmp_path / "a.txt").write_bytes(data)
    monkeypatch.setattr(sys, "stdin", Stdin(data))
    from_file, from_stdin = (list(inputs.chunks(None, file)) for file in (tmp_path / "a.txt", None))
    assert from_file == from_stdin and [line for chunk in from_file for line in chunk] == lines
    assert [len(chunk) for chunk in from_file] == [3] * (count // 3) + [count % 3] * (count % 3 > 0)


def test_a_terminal_is_answered_line_by_line(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Stdin(b"a\nb\n", is_terminal=True))
    assert list(inputs.standard_input()) == [["a"], ["b"]]


def test_a_closed_standard_input_is_reported(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DataError, match="standard input is closed; give the text as an argument or with --file."):
        list(inputs.standard_input())


def test_a_row_is_a_line_or_its_fields_in_turn(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "CHUNK", 2)
    pair, text = RowFormat(("one", "other")), RowFormat(("text",))
    (tmp_path / "a.txt").write_text("a\tb\n\nc\td\n")
    (first, second) = inputs.rows_of(pair, None, tmp_path / "a.txt")
    assert first == [{"one": "a", "other": "b"}, None] and second == [{"one": "c", "other": "d"}]
    assert next(inputs.rows_of(text, None, tmp_path / "a.txt")) == [{"text": "a\tb"}, None]
    assert list(inputs.rows_of(pair, ["a", "b", " ", ""], None)) == [first]
    (tmp_path / "a.txt").write_text("a\tb\n\nc\n")
    with pytest.raises(DataError, match="line 3: put one and other on a line, separated by tabs."):
        list(inputs.rows_of(pair, None, tmp_path / "a.txt"))
    with pytest.raises(DataError, match="3 texts were given, but a row of this model has one and other; give all of"):
        list(inputs.rows_of(pair, ["a", "b", "c"], None))
