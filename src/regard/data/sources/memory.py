"""Rows from memory (tuples, dicts, texts, data frames and `datasets`) as records of named fields."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias

from regard.errors import DataError

Shape: TypeAlias = Mapping[str, tuple[type, ...]]
"""The fields of a row, in order, each with the types of its values."""
Record: TypeAlias = dict[str, Any]

TEXT: tuple[type, ...] = (str,)
NUMBER: tuple[type, ...] = (int, float)
LIST: tuple[type, ...] = (list,)
LABEL: tuple[type, ...] = (str, int, float)
LABELS: tuple[type, ...] = (str, int, float, list)
ANSWERS: tuple[type, ...] = (str, list, dict)
WORDS = {
    TEXT: "text",
    NUMBER: "a number",
    LIST: "a list",
    LABEL: "text or a number",
    LABELS: "text, a number or a list of labels",
    ANSWERS: "text or a list of texts",
}


def memory_lines(rows: object, shapes: Sequence[Shape], what: str = "data") -> list[str]:
    """Return rows from memory as lines of JSON; `what` is their name in messages."""
    named = class_names(rows)
    lines = []
    for number, row in enumerate(_rows(rows, what), 1):
        record = record_of(row, number, shapes, what)
        record |= {name: class_name(names, record[name]) for name, names in named.items() if name in record}
        try:
            lines.append(json.dumps(record, ensure_ascii=False))
        except (TypeError, ValueError):
            raise DataError(f"{what}: row {number} holds a value that JSON has no form for; give text.") from None
    if not lines:
        raise DataError(f"{what}: there are no rows; give some.")
    return lines


def record_of(row: object, number: int, shapes: Sequence[Shape], what: str = "data") -> Record:
    """Return a row by field; a tuple's values are the fields of the shape of its length."""
    record = _record(row, shapes)
    if record is None:
        wanted = " or ".join("a text" if len(each) == 1 else f"({', '.join(each)})" for each in shapes)
        raise DataError(f"{what}: row {number} is not {wanted}; give that, or a dict of columns.")
    for shape in shapes:
        for name, types in shape.items():
            value = record.get(name)
            if value is not None and (not isinstance(value, types) or (isinstance(value, bool) and str not in types)):
                raise DataError(f"{what}: the {name} of row {number} is not {WORDS[types]}; fix it.")
    return record


def _record(row: object, shapes: Sequence[Shape]) -> Record | None:
    if isinstance(row, Mapping):
        return {str(name): _plain(value) for name, value in row.items()}
    values = [row] if isinstance(row, str) else row
    if not isinstance(values, Sequence) or isinstance(values, bytes):
        return None
    shape = next((each for each in shapes if len(each) == len(values)), None)
    if shape is None or (isinstance(row, str) != (len(shape) == 1)) or None in values:
        return None
    return dict(zip(shape, map(_plain, values), strict=True))


def _plain(value: Any) -> Any:
    """Return a value in JSON's types: arrays as lists, scalars of NumPy as numbers, a missing number as None."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def _rows(rows: Any, what: str) -> Iterable[object]:
    """Return the rows of a list, of a data frame (pandas, polars), or of a data set."""
    if isinstance(rows, str | bytes | PathLike):
        raise DataError(
            f"{what}: {str(rows)[:60]!r} is one string, and rows are a list; name a file as a setting instead "
            f"(data.train.path, or data.train.paths for running text)."
        )
    if isinstance(rows, Mapping):
        names = list(map(str, rows))
        raise DataError(f"{what}: this is a dictionary ({', '.join(names[:5])}); give one list of rows or one split.")
    if callable(to_dicts := getattr(rows, "to_dicts", None)):
        return list(to_dicts())
    if hasattr(rows, "columns") and hasattr(rows, "to_dict"):
        return list(rows.to_dict("records"))
    if not isinstance(rows, Iterable):
        raise DataError(f"{what}: a value of type {type(rows).__name__} has no rows; give a list of them.")
    return rows


def class_names(rows: object) -> dict[str, Sequence[str]]:
    """Return the class names of a data set's features, or of the entries of its lists, by column."""
    features = getattr(rows, "features", None) or {}
    inner = {name: getattr(each, "feature", each) for name, each in features.items()}
    return {name: names for name, each in inner.items() if (names := getattr(each, "names", None))}


def class_name(names: Sequence[str], value: Any) -> Any:
    """Return a class index as its name; None where it is none."""
    if isinstance(value, list):
        return [class_name(names, each) for each in value]
    return names[value] if isinstance(value, int) and 0 <= value < len(names) else None
