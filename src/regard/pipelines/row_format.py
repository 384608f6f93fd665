"""Rows of texts: the values of arguments, or of lines whose fields are separated by tabs."""

from collections.abc import Sequence
from dataclasses import dataclass

from regard.errors import DataError

Fields = dict[str, object]
"""The fields of a row by name."""


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

    def of_arguments(self, words: Sequence[str]) -> list[Fields | None]:
        """Return the rows of arguments, which hold the fields of one row after the other."""
        size = len(words) if self.is_open else len(self.names)
        if len(words) % size or len(words) < len(self.names):
            count = "1 text was" if len(words) == 1 else f"{len(words)} texts were"
            raise DataError(f"{count} given, but a row of this model has {self.words}; give all of them.")
        return [self._row(words[start : start + size]) for start in range(0, len(words), size)]

    def of_line(self, line: str, number: int) -> Fields | None:
        """Return the row of a line; None: a blank line."""
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
