"""Layers of values into one frozen Settings, with the source of every value and errors in words."""

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from regard.config.overrides import merge_into
from regard.config.settings import Settings, flatten, setting_names
from regard.errors import ConfigError

S = TypeVar("S", bound=Settings)


@dataclass(frozen=True)
class Layer:
    """Values from one place, such as a preset, a recipe or the command line."""

    name: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Resolved(Generic[S]):
    """A frozen value of settings, and for each dotted name the layer it came from (absent: the default)."""

    settings: S
    sources: dict[str, str]

    def source(self, name: str) -> str:
        """Return the layer that set `name`."""
        return self.sources.get(name, "default")


def merge(layers: Sequence[Layer]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the merged tables and the source of each leaf; later layers win, tables are merged."""
    merged: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for layer in layers:
        merge_into(merged, layer.values)
        sources |= dict.fromkeys((name for name, _ in flatten(layer.values)), layer.name)
    alive = dict(flatten(merged))
    return merged, {name: layer for name, layer in sources.items() if name in alive}


def resolve(schema: type[S], layers: Sequence[Layer]) -> Resolved[S]:
    """Return the settings the layers add up to; the first layer is the weakest."""
    merged, sources = merge(layers)
    try:
        # Strict JSON mode: "8" is no number and 1 is no truth value, yet an array may become a tuple.
        settings = schema.model_validate_json(json.dumps(merged, default=str), strict=True)
    except ValidationError as error:
        # A union reports once for each member; the first complaint about a place is enough.
        sentences = {_place(detail): _sentence(detail, schema, sources) for detail in reversed(error.errors())}
        raise ConfigError(*reversed(sentences.values())) from None
    return Resolved(settings, sources)


def _place(detail: ErrorDetails) -> str:
    """Return the dotted name of the setting; members of a union and items of a list are not settings."""
    parts = [str(part) for part in detail["loc"] if not isinstance(part, int)]
    while len(parts) > 1 and parts[-1] in ("str", "int", "float", "bool"):
        parts.pop()
    return ".".join(parts)


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


def _sentence(detail: ErrorDetails, schema: type[Settings], sources: Mapping[str, str]) -> str:
    """Return one sentence for one problem: dotted name, value, where it came from, and the way out."""
    place, value, kind = _place(detail), detail["input"], detail["type"]
    shown = json.dumps(value, ensure_ascii=False, default=str)
    origin = f" (from {sources[place]})" if place in sources else ""
    if kind == "extra_forbidden":
        return f"{place}: unknown setting, given as {shown}{origin}; {suggestion(place, schema)}"
    if kind in ("too_long", "too_short") or (kind == "missing" and isinstance(detail["loc"][-1], int)):
        return f"{place}: {shown} has the wrong number of values{origin}."
    if kind == "missing":
        return f"{place}: this setting is required; give it in the recipe or as {place}=VALUE."
    if kind in KINDS:
        return f"{place}: {shown} is not {KINDS[kind]}{origin}."
    if kind == "literal_error":
        return f"{place}: {shown} is not one of {detail['ctx']['expected']}{origin}."
    if kind in ("value_error", "assertion_error"):
        reason = str(detail["ctx"]["error"]) if "ctx" in detail else detail["msg"]
        joint = "" if not place else "." if _starts_with_setting(reason) else ": "
        return f"{place}{joint}{reason}"
    limit = detail["msg"].removeprefix("Input should be ")
    return f"{place}: {shown} is out of range, it must be {limit}{origin}."


def _starts_with_setting(reason: str) -> bool:
    """Tell whether a validator's text names its own setting first ("heads: 7 does not ...")."""
    head, colon, _ = reason.partition(": ")
    return bool(colon) and head.replace("_", "").replace(".", "").isalnum()


def suggestion(place: str, schema: type[Settings]) -> str:
    """Return the nearest known name, or what is known beside it."""
    names = list(setting_names(schema))
    group, _, last = place.rpartition(".")
    beside = [name for name in names if name.rpartition(".")[0] == group]
    # Elsewhere only what is called so: a model without heads has no use for machine.threads.
    for among, cutoff in ((beside, 0.6), (names, 0.9)) if group and beside else ((names + beside, 0.6),):
        by_last = {name.rpartition(".")[2]: name for name in among}
        near = difflib.get_close_matches(last, by_last, n=1, cutoff=cutoff)
        if near:
            return f"did you mean {by_last[near[0]]}?"
    return f"known here: {', '.join(name.rpartition('.')[2] for name in beside)}."
