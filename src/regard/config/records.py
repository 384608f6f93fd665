"""JSON files that regard writes, read back through a schema: a mistake is one sentence with path and field."""

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
"""Bytes of such a file at most."""

LONE_SURROGATE = re.compile("[\ud800-\udfff]")

Count = Annotated[int, Field(ge=0, lt=2**63)]
"""A whole number that counts something."""
Figure = Annotated[float, Field(strict=True)] | None
"""A number that was measured; None where there was nothing to measure."""

R = TypeVar("R", bound="Record")
E = TypeVar("E", bound=RegardError)


class Record(BaseModel):
    """What a file of ours holds; fields that this version does not know are kept as they are."""

    model_config = ConfigDict(frozen=True, extra="allow", strict=True, protected_namespaces=())


def read_record(path: Path, schema: type[R], error: type[E], what: str, way_out: str = "") -> R:
    """Return the record in a file, `what` it should be; a missing file is left to the caller (FileNotFoundError)."""
    return check_record(read_json(path, error, what, way_out), path, schema, error, what, way_out)


def check_record(
    value: Any, origin: Path | str, schema: type[R], error: type[E], what: str, way_out: str = "", group: str = ""
) -> R:
    """Return a value of JSON as a record; `group` is the field it stands under, where it is not all of the file."""
    try:
        return schema.model_validate(value)
    except ValidationError as reason:
        raise _refusal(error, origin, what, first_problem(reason, group), way_out) from None
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


def read_json(path: Path, error: type[E], what: str, way_out: str = "", decoding: str = "strict") -> Any:
    """Return the value in a JSON file; a missing file is left to the caller (FileNotFoundError).

    `decoding` says what happens to bytes that are not UTF-8, as the names of files may be.
    """
    text = read_text_file(path, error, what, way_out, decoding)
    try:
        value = parse_json(text)
    except ParseError as reason:
        raise _refusal(error, path, what, str(reason), way_out) from None
    if "\\ud" in text.lower() and LONE_SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise _refusal(error, path, what, "it holds half a character, which cannot be written again", way_out)
    return value


def read_text_file(path: Path, error: type[E], what: str, way_out: str = "", decoding: str = "strict") -> str:
    """Return the text of a file of bounded size; a missing one is left to the caller (FileNotFoundError)."""
    refuse: Callable[[str], E] = lambda reason: _refusal(error, path, what, reason, way_out)
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise refuse("not a plain file")
        if found.st_size > LARGEST:
            raise refuse(f"{found.st_size:,} bytes are too many")
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
    """Return the first thing that is wrong with a record (or a group of one): which field, and why."""
    detail = error.errors(include_url=False)[0]
    parts = ((group,) if group else ()) + detail["loc"]
    if parts and parts[-1] == "[key]":  # what is wrong is a name, which the reason repeats
        parts = parts[:-2]
    place = ".".join(map(str, parts))
    kind, shown = detail["type"], json.dumps(detail["input"], ensure_ascii=True, default=str)
    shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
    where = f"{place}: " if place else ""
    if kind == "missing":
        return f"{place} is missing"
    if kind == "extra_forbidden":
        return f"{where}{shown} is for a field that this version does not know"
    if kind == "value_error":
        return f"{where}{str(detail['ctx']['error']).removesuffix('.')}"
    if kind in WORDS:
        return f"{where}{shown} is not {WORDS[kind]}"
    problem = detail["msg"].removeprefix("Input should be ")
    return f"{where}{shown} is not {problem}"
