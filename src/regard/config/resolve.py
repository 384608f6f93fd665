"""Resolution of settings: layers of values become one frozen `Settings`, with the source of every value."""

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from regard.config.overrides import merge_into
from regard.config.settings import Settings, flatten, schemas_in, setting_names
from regard.errors import ConfigError

S = TypeVar("S", bound=Settings)

LONGEST = 300
"""Maximum characters of a value in an error."""
UNWRITABLE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Layer:
    """Values from one source, such as a preset, a recipe or the command line."""

    name: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Resolved(Generic[S]):
    """Frozen settings, and the layer that set each dotted name (absent: the default)."""

    settings: S
    sources: dict[str, str]

    def source(self, name: str) -> str:
        """Return the layer that set `name`."""
        return self.sources.get(name, "default")


def merge(layers: Sequence[Layer]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the merged tables and the source of each leaf; later layers override earlier ones."""
    merged: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for layer in layers:
        merge_into(merged, layer.values)
        sources |= dict.fromkeys((name for name, _ in flatten(layer.values)), layer.name)
    leaves = dict(flatten(merged))
    return merged, {name: layer for name, layer in sources.items() if name in leaves}


def resolve(schema: type[S], layers: Sequence[Layer]) -> Resolved[S]:
    """Return the validated settings of the merged layers; later layers override earlier ones."""
    merged, sources = merge(layers)
    check_texts(merged)
    try:
        # Strict JSON mode: "8" is not a number and 1 is not a boolean, yet an array may become a tuple.
        settings = schema.model_validate_json(json.dumps(merged, default=str), strict=True)
    except ValidationError as error:
        problems: dict[str, list[ErrorDetails]] = {}
        for detail in error.errors():
            problems.setdefault(_setting_name(detail, schema), []).append(detail)
        sentences = (_sentence(name, details, schema, sources) for name, details in problems.items())
        raise ConfigError(*sentences) from None
    return Resolved(settings, sources)


def check_texts(values: Mapping[str, Any]) -> None:
    """Refuse text that no file or file name can contain: lone surrogates (not UTF-8) and NUL."""
    for name, value in flatten(values):
        for text in (name, *_texts(value)):
            if "\0" in text or (not text.isascii() and UNWRITABLE.search(text)):
                shown = json.dumps(text, default=str)
                raise ConfigError(f"{ascii(name)[1:-1]}: {shown} is not UTF-8 text, or contains NUL; correct it.")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from map(str, value)
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _setting_name(detail: ErrorDetails, schema: type[Settings]) -> str:
    """Return the dotted name of a setting; members of a union and items of a list are not settings."""
    here, has_names, kept = [schema], False, list[str]()
    parts = [part for part in detail["loc"] if isinstance(part, str)]
    for number, part in enumerate(parts):
        field = next((each.model_fields[part] for each in here if part in each.model_fields), None)
        is_unknown = detail["type"] == "extra_forbidden" and number == len(parts) - 1
        if field is not None:
            here, has_names = _inside(field.annotation)
        elif has_names:
            has_names = False
        elif not is_unknown:
            continue
        kept.append(part)
    return ".".join(kept)


def _inside(annotation: Any) -> tuple[list[type[Settings]], bool]:
    """Return the groups of settings an annotation admits, and True if it is a table with names chosen by users."""
    parts = [annotation, *get_args(annotation)]
    tables = [part for part in parts if get_origin(part) is dict]
    inner = [each for part in tables for each in schemas_in(get_args(part)[1])]
    return [*schemas_in(annotation), *inner], bool(tables)


KINDS = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "text",
    "model_type": "a table of settings",
    "model_attributes_type": "a table of settings",
    "dict_type": "a table",
    "tuple_type": "a list",
    "list_type": "a list",
}


def _sentence(name: str, details: Sequence[ErrorDetails], schema: type[Settings], sources: Mapping[str, str]) -> str:
    """Return the error of one setting in a sentence: dotted name, value, source and the way out."""
    # A union reports an error for each member: that of a member with the right type is the most specific.
    detail = next((each for each in details if each["type"] not in (*KINDS, "literal_error")), details[0])
    value, kind = detail["input"], detail["type"]
    shown = json.dumps(value, ensure_ascii=False, default=str)
    shown = shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"
    origin = f" (from {sources[name]})" if name in sources else ""
    if kind == "extra_forbidden":
        return f"{name}: unknown setting, given as {shown}{origin}; {suggestion(name, schema)}"
    if kind in ("too_long", "too_short") or (kind == "missing" and isinstance(detail["loc"][-1], int)):
        return f"{name}: {shown} has the wrong number of values{origin}."
    if kind == "missing":
        return f"{name}: this setting is required; give it in the recipe or as {_way_in(name, schema)}."
    if kind == "literal_error" or kind in KINDS:
        wanted = dict.fromkeys(
            KINDS[each["type"]] if each["type"] in KINDS else f"one of {each['ctx']['expected']}" for each in details
        )
        return f"{name}: {shown} is not {' or '.join(wanted)}{origin}."
    if kind in ("value_error", "assertion_error"):
        reason = str(detail["ctx"]["error"]) if "ctx" in detail else detail["msg"]
        joint = "" if not name else "." if _starts_with_setting(reason) else ": "
        return f"{name}{joint}{reason}"
    limit = detail["msg"].removeprefix("Input should be ")
    return f"{name}: {shown} is out of range, it must be {limit}{origin}."


def _way_in(name: str, schema: type[Settings]) -> str:
    """Return the command-line form of a setting; for a group, that of one of its settings."""
    inside = [each for each in setting_names(schema) if each.rpartition(".")[0] == name]
    if f"{name}.preset" in inside:
        return f"{name}.preset=NAME"
    return f"{inside[0]}=VALUE" if inside else f"{name}=VALUE"


def _starts_with_setting(reason: str) -> bool:
    """Return True if a validator's message begins with a setting's name ("heads: 7 does not ...")."""
    head, colon, _ = reason.partition(": ")
    return bool(colon) and head.replace("_", "").replace(".", "").isalnum()


def suggestion(name: str, schema: type[Settings]) -> str:
    """Return the closest valid name, or the list of valid names in the same group, if it has any."""
    names = list(setting_names(schema))
    group, _, last = name.rpartition(".")
    beside = [name for name in names if name.rpartition(".")[0] == group]
    # In other groups only near-identical names: a model without heads is not meant by machine.threads.
    for among, cutoff in ((beside, 0.6), (names, 0.9)) if group and beside else ((names + beside, 0.6),):
        by_last = {name.rpartition(".")[2]: name for name in among}
        near = difflib.get_close_matches(last, by_last, n=1, cutoff=cutoff)
        if near:
            return f"did you mean {by_last[near[0]]}?"
    if not beside:
        return "there are no settings here, so leave it out."
    return f"choose from {', '.join(name.rpartition('.')[2] for name in beside)}."
