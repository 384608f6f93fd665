"""The lines a verb works on: those given, those of a file, or those that come in."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

CHUNK = 512
"""Lines read ahead: enough to batch by length, few enough that a pipe keeps flowing."""


def chunks(texts: list[str] | None, file: Path | None) -> Iterable[list[str]]:
    """Return the lines to work on, some at a time: those given, those of a file, or those that come in."""
    from regard.data.lines import read_lines

    if texts:
        return [texts]
    if file is None:
        return standard_input()
    lines = read_lines(file)
    return (lines[start : start + CHUNK] for start in range(0, len(lines), CHUNK))


def standard_input() -> Iterator[list[str]]:
    """Yield lines in chunks; a person at the keyboard gets an answer after each line."""
    from regard.errors import DataError

    size = 1 if sys.stdin.isatty() else CHUNK
    chunk: list[str] = []
    number = 0
    for number, raw in enumerate(sys.stdin.buffer, start=1):
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"standard input: line {number} is not UTF-8 (byte 0x{raw[error.start]:02x}).") from None
        chunk.append(line.rstrip("\r\n"))
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
