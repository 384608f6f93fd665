"""JSON records: files that regard writes, validated by a schema; an error is one sentence with path and field."""

import json
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from regard.config.parsing import ParseError, parse_json
from regard.config.resolve import KINDS
from regard.errors import RegardError

WORDS = KINDS | dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), "a JSON object")

LARGEST = 2**28
"""Maximum size of such a file in bytes."""

LONE_SURROGATE = re.compile("[\ud800-\udfff]")

Count = Annotated[int, Field(ge=0, lt=2**63)]
"""A non-negative integer."""
Figure = Annotated[float, Field(strict=True)] | None
"""A measured number; None if there was nothing to measure."""

R = TypeVar("R", bound="Record")
E = TypeVar("E", bound=RegardError)


class Record(BaseModel):
    """The content of a file that regard writes; unknown fields are kept as they are."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, protected_namespaces=())


def read_record(path: Path, schema: type[R], error: type[E], what: str, way_out: str = "") -> R:
    """Return the record in a file; `what` names it in errors; a missing file raises FileNotFoundError."""
    return check_record(read_json(path, error, what, way_out), path, schema, error, what, way_out)


def check_record(
    value: Any, origin: Path | str, schema: type[R], error: type[E], what: str, way_out: str = "", group: str = ""
) -> R:
    """Return a JSON value as a record; `group` is the field that contains it, if it is not the whole file."""
    try:
        return schema.model_validate(value)
    except ValidationError as reason:
        raise _refusal(error, origin, what, first_problem(reason, group), way_out) from None
    except UnicodeEncodeError:  # pydantic fails on a validator's message that quotes such a text
        raise _refusal(error, origin, what, "a text with a lone surrogate", way_out) from None


def read_value(path: Path, kind: Any, error: type[E], what: str, way_out: str = "") -> Any:
    """Return the value of a JSON file, validated as a type such as `dict[str, int]`."""
    return check_value(read_json(path, error, what, way_out), path, kind, error, what, way_out)


def check_value(value: Any, origin: Path | str, kind: Any, error: type[E], what: str, way_out: str = "") -> Any:
    """Return a JSON value validated as a type."""
    try:
        return TypeAdapter(kind, config=ConfigDict(strict=True)).validate_python(value)
    except ValidationError as reason:
        raise _refusal(error, origin, what, first_problem(reason), way_out) from None


def read_json(path: Path, error: type[E], what: str, way_out: str = "", decoding: str = "strict") -> Any:
    """Return the value of a JSON file; a missing file raises FileNotFoundError.

    `decoding` is the error handler for bytes that are not UTF-8, which file names may contain.
    """
    text = read_text_file(path, error, what, way_out, decoding)
    try:
        value = parse_json(text)
    except ParseError as reason:
        raise _refusal(error, path, what, str(reason), way_out) from None
    if "\\ud" in text.lower() and LONE_SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise _refusal(error, path, what, "it contains a lone surrogate, which cannot be written again", way_out)
    return value


def read_text_file(path: Path, error: type[E], what: str, way_out: str = "", decoding: str = "strict") -> str:
    """Return the text of a file of bounded size; a missing one raises FileNotFoundError."""
    refuse: Callable[[str], E] = lambda reason: _refusal(error, path, what, reason, way_out)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise refuse("not a plain file")
        if status.st_size > LARGEST:
            raise refuse(f"{status.st_size:,} bytes are too many")
        return path.read_text(encoding="utf-8", errors=decoding)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(2, "No such file or directory", str(path)) from None
    except UnicodeDecodeError:
        raise refuse("not UTF-8") from None
    except OSError as reason:
        raise refuse(reason.strerror or str(reason)) from None


def _refusal(error: type[E], origin: Path | str, what: str, reason: str, way_out: str) -> E:
    return error(f"{origin}: this is not {what} ({reason}){f'; {way_out}' if way_out else ''}.")


def first_problem(error: ValidationError, group: str = "") -> str:
    """Return the first error in a record (or a group of one): the field and the reason."""
    detail = error.errors(include_url=False)[0]
    parts = ((group,) if group else ()) + detail["loc"]
    if parts and parts[-1] == "[key]":  # the key itself is invalid, and the reason quotes it
        parts = parts[:-2]
    name = ".".join(map(str, parts))
    kind, shown = detail["type"], json.dumps(detail["input"], ensure_ascii=True, default=str)
    shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
    where = f"{name}: " if name else ""
    if kind == "missing":
        return f"{name} is missing"
    if kind == "extra_forbidden":
        return f"{where}{shown} is for a field that this version does not support"
    if kind == "value_error":
        return f"{where}{str(detail['ctx']['error']).removesuffix('.')}"
    if kind in WORDS:
        return f"{where}{shown} is not {WORDS[kind]}"
    problem = detail["msg"].removeprefix("Input should be ")
    return f"{where}{shown} is not {problem}"
