"""JSON files that regard writes, read back through a schema: a mistake is one sentence with path and field."""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from regard.config.parsing import ParseError, parse_json
from regard.config.resolve import KINDS
from regard.errors import RegardError

WORDS = KINDS | dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), "a JSON object")

LARGEST = 2**28
"""Bytes of such a file at most."""

R = TypeVar("R", bound="Record")
E = TypeVar("E", bound=RegardError)


class Record(BaseModel):
    """What a file of ours holds; fields that this version does not know are kept as they are."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, protected_namespaces=())


def read_record(path: Path, schema: type[R], error: type[E], what: str, way_out: str = "") -> R:
    """Return the record in a file, `what` it should be; a missing file is left to the caller (FileNotFoundError)."""
    return check_record(read_json(path, error, what, way_out), path, schema, error, what, way_out)


def check_record(value: Any, origin: Path | str, schema: type[R], error: type[E], what: str, way_out: str = "") -> R:
    """Return a value of JSON as a record."""
    try:
        return schema.model_validate(value)
    except ValidationError as reason:
        raise _refusal(error, origin, what, first_problem(reason), way_out) from None
    except UnicodeEncodeError:  # pydantic fails over a validator's words that repeat such a text
        raise _refusal(error, origin, what, "a text with a lone surrogate", way_out) from None


def read_value(path: Path, kind: Any, error: type[E], what: str, way_out: str = "") -> Any:
    """Return the value in a JSON file that holds no record, such as `dict[str, int]`, of that kind."""
    return check_value(read_json(path, error, what, way_out), path, kind, error, what, way_out)


def check_value(value: Any, origin: Path | str, kind: Any, error: type[E], what: str, way_out: str = "") -> Any:
    """Return a value of JSON if it is of a kind."""
    try:
        return TypeAdapter(kind, config=ConfigDict(strict=True)).validate_python(value)
    except ValidationError as reason:
        raise _refusal(error, origin, what, first_problem(reason), way_out) from None


def read_json(path: Path, error: type[E], what: str, way_out: str = "") -> Any:
    """Return the value in a JSON file; a missing file is left to the caller (FileNotFoundError)."""
    try:
        return parse_json(read_text_file(path, error, what, way_out))
    except ParseError as reason:
        raise _refusal(error, path, what, str(reason), way_out) from None


def read_text_file(path: Path, error: type[E], what: str, way_out: str = "") -> str:
    """Return the text of a file of bounded size; a missing one is left to the caller (FileNotFoundError)."""
    refuse: Callable[[str], E] = lambda reason: _refusal(error, path, what, reason, way_out)
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise refuse("not a plain file")
        if found.st_size > LARGEST:
            raise refuse(f"{found.st_size:,} bytes are too many")
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(2, "No such file or directory", str(path)) from None
    except UnicodeDecodeError:
        raise refuse("not UTF-8") from None
    except OSError as reason:
        raise refuse(reason.strerror or str(reason)) from None


def _refusal(error: type[E], origin: Path | str, what: str, reason: str, way_out: str) -> E:
    return error(f"{origin}: this is not {what} ({reason}){f'; {way_out}' if way_out else ''}.")


def first_problem(error: ValidationError) -> str:
    """Return the first thing that is wrong with a record: which field, and why."""
    detail = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in detail["loc"])
    kind, shown = detail["type"], json.dumps(detail["input"], ensure_ascii=True, default=str)
    shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
    if kind == "missing":
        return f"{place} is missing"
    if kind == "value_error":
        return f"{place}: {detail['ctx']['error']}"
    if kind in WORDS:
        return f"{f'{place}: ' if place else ''}{shown} is not {WORDS[kind]}"
    problem = detail["msg"].removeprefix("Input should be ")
    return f"{f'{place}: ' if place else ''}{shown} is not {problem}"
