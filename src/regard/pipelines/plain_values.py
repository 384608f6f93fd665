"""Records, arrays and results as plain values of JSON."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def fields_in(value: object) -> dict[str, Any]:
    """Return the fields of a record as JSON values, without those that are None."""
    if not is_dataclass(value):
        values: Mapping[str, object] = value._asdict()  # type: ignore[attr-defined]  # a NamedTuple
    else:
        values = {field.name: getattr(value, field.name) for field in fields(value) if field.repr}
    return {name: plain(each) for name, each in values.items() if each is not None}


def plain(value: object) -> object:
    """Return a value as JSON has it; results and records become objects."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value) or hasattr(value, "_asdict"):
        return fields_in(value)
    if isinstance(value, Mapping):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.tolist() if hasattr(value, "tolist") else value
