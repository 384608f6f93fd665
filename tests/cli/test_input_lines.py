"""Input lines come from arguments, a file or standard input, in chunks and in order."""

import io
import sys

import pytest

from regard.cli import inputs
from regard.errors import DataError


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
