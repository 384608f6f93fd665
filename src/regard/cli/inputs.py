"""Inputs of a verb: rows and lines from its arguments, a file, or standard input."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

CHUNK = 512
"""Lines read ahead: enough to batch by length, few enough that a pipe is answered soon."""
ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
"""Suffixes of tables."""

Fields = dict[str, object]
"""The fields of a row by name."""


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


@dataclass(frozen=True)
class RowFormat:
    """The fields of a row, in order; a row may have more values for the last one."""

    names: tuple[str, ...]
    is_open: bool = False
    takes_blank: bool = False
    """A blank row is one like any other."""

    @property
    def words(self) -> str:
        """The names in words."""
        return " and ".join(self.names)

    def rows(self, words: Sequence[str] | None, file: Path | None) -> Iterator[list[Fields | None]]:
        """Yield chunks of rows: of the arguments, or one per line, its fields separated by tabs; None: blank."""
        if words:
            yield self.of_arguments(words)
            return
        first = 1
        for chunk in chunks(None, file):
            yield [self.of_line(line, number) for number, line in enumerate(chunk, first)]
            first += len(chunk)

    def of_arguments(self, words: Sequence[str]) -> list[Fields | None]:
        """Return the rows of arguments, which hold the fields of one row after the other."""
        from regard.errors import DataError

        size = len(words) if self.is_open else len(self.names)
        if len(words) % size or len(words) < len(self.names):
            count = "1 text was" if len(words) == 1 else f"{len(words)} texts were"
            raise DataError(f"{count} given, but a row of this model has {self.words}; give all of them.")
        return [self._row(words[start : start + size]) for start in range(0, len(words), size)]

    def of_line(self, line: str, number: int) -> Fields | None:
        """Return the row of a line; None: a blank line."""
        from regard.errors import DataError

        fields = [line] if len(self.names) == 1 and not self.is_open else line.split("\t")
        if line.strip() and (len(fields) < len(self.names) or (len(fields) > len(self.names) and not self.is_open)):
            raise DataError(f"line {number:,}: put {self.words} on a line, separated by tabs.")
        return self._row(fields)

    def _row(self, values: Sequence[str]) -> Fields | None:
        if not self.takes_blank and not "".join(values).strip():
            return None
        last = len(self.names) - 1
        rest: list[object] = [list(values[last:])] if self.is_open else list(values[last:])
        return dict(zip(self.names, [*values[:last], *rest], strict=True))
