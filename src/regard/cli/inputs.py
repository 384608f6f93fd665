"""Inputs of a verb: rows and lines from its arguments, a file, or standard input."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

CHUNK = 512
"""Lines read ahead: enough to batch by length, few enough that a pipe is answered soon."""
ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
"""Suffixes of tables."""


def has_suffix(file: Path | None, suffixes: Sequence[str] = ENDINGS) -> bool:
    """Return True for a file with one of these suffixes, compressed or not."""
    return file is not None and Path(file.name.removesuffix(".gz")).suffix.lower() in suffixes


def chunks(texts: Sequence[str] | None, file: Path | None) -> Iterable[list[str]]:
    """Return the input lines in chunks: the texts given, or the lines of a file or of standard input."""
    from regard.data.sources.lines import read_lines

    if texts:
        return [list(texts)]
    if file is None:
        return standard_input()
    lines = read_lines(file)
    return (lines[start : start + CHUNK] for start in range(0, len(lines), CHUNK))


def standard_input() -> Iterator[list[str]]:
    """Yield the lines of standard input in chunks; one line each in a terminal."""
    from regard.data.sources.lines import bounded_lines
    from regard.errors import DataError

    if sys.stdin is None or sys.stdin.closed:
        raise DataError("standard input is closed; give the text as an argument or with --file.")
    size = 1 if sys.stdin.isatty() else CHUNK
    chunk: list[str] = []
    for line in bounded_lines(sys.stdin.buffer, "standard input"):
        chunk.append(line)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
