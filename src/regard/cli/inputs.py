"""Input lines of a verb: from its arguments, a file, or standard input."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

CHUNK = 512
"""Lines read ahead: enough to batch by length, few enough that a pipe is answered soon."""


def chunks(texts: list[str] | None, file: Path | None) -> Iterable[list[str]]:
    """Return the input lines in chunks: the texts given, or the lines of a file or of standard input."""
    from regard.data.sources.lines import read_lines

    if texts:
        return [texts]
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
