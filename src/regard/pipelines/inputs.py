"""Rows of a call: a list or an iterator is many rows, anything else is one, its fields as positionals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar

from regard.config.schema import Doc, fields_of
from regard.data.sources.lines import is_text
from regard.errors import DataError

R = TypeVar("R")


@dataclass(frozen=True)
class SingleText:
    """A text."""

    text: Annotated[str, Doc("The text.")]


@dataclass(frozen=True)
class TextRow:
    """A text, or a pair of texts."""

    text: Annotated[str, Doc("The text.")]
    second: Annotated[str | None, Doc("The second text of a pair.")] = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The one text, or both."""
        return (self.text,) if self.second is None else (self.text, self.second)


def split_rows(inputs: tuple[object, ...]) -> tuple[list[object], bool]:
    """Return the rows that a call was given, and whether they were given as many."""
    if len(inputs) == 1 and isinstance(inputs[0], list | Iterator):
        return list(inputs[0]), True
    return [inputs[0] if len(inputs) == 1 else inputs], False


def lines(first: int, rows: Sequence[object]) -> list[str]:
    """Return the names of rows by their lines, counted from `first`."""
    return [f"line {line:,}" for line in range(first, first + len(rows))]


def as_row(schema: type[R], names: Sequence[str], given: object, where: str) -> R:
    """Return a row of the schema from a row, a tuple of the named fields, a dict, or the value of its first field."""
    if isinstance(given, schema):
        return given
    wanted, fields = " and ".join(names), fields_of(schema)
    required = [field.name for field in fields if field.is_required and field.name in names]
    if isinstance(given, Mapping):
        values = dict(given)
        if unknown := [str(name) for name in values if name not in {each.name for each in fields}]:
            raise DataError(f"{where}: a row has {wanted}, and {', '.join(unknown)} was given; correct the name.")
    else:
        parts = given if isinstance(given, tuple) else (given,)
        if len(parts) > len(names):
            raise DataError(f"{where}: {len(parts)} values were given, but a row has {wanted}; leave some out.")
        values = dict(zip(names, parts))
    if missing := [name for name in required if name not in values]:
        raise DataError(f"{where}: {' and '.join(missing)} is missing, a row has {wanted}; give it.")
    return schema(**values)


def check_text(text: object, where: str, may_be_blank: bool = False) -> None:
    """Refuse what is not text (NaN of a data frame, a number), empty text and invalid Unicode."""
    if not isinstance(text, str):
        raise DataError(f"{where} is {text!r} and not text; leave it out, or give it as text.")
    if not may_be_blank and not text.strip():
        raise DataError(f"{where} is empty; give some text.")
    if not is_text(text):
        raise DataError(f"{where} is not UTF-8 text; convert it first.")
