"""Fields of settings, rows and results: name, type, description, default and bounds, whatever class declares them."""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import Parameter
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from regard.config.settings import Settings, schemas_in

REQUIRED: object = Parameter.empty
"""The default of a field that has none."""

BOUNDS = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below", "min_length": "length at least"}
"""Bounds of a field by the name that pydantic gives them, in words."""

NAMES: dict[object, str] = {
    Any: "any value",
    int: "whole number",
    float: "number",
    str: "text",
    bool: "true or false",
    dict: "table",
}


@dataclass(frozen=True)
class Doc:
    """The description of a field of a dataclass or NamedTuple: `name: Annotated[str, Doc("The name.")]`."""

    text: str


@dataclass(frozen=True)
class FieldSpec:
    """A field of a schema."""

    name: str
    type: Any
    """Its annotation, without the description and the bounds around it."""
    doc: str = ""
    default: object = REQUIRED
    bounds: tuple[tuple[str, float], ...] = ()
    """Bounds of the whole value, such as ("ge", 1); those of a union's members stay in `type`."""
    group: str = ""
    """The heading under which forms and help show it."""

    @property
    def is_required(self) -> bool:
        """True if the field has no default."""
        return self.default is REQUIRED

    @property
    def is_list(self) -> bool:
        """True if its value is a list."""
        return get_origin(self.type) in (list, tuple, Sequence)

    @property
    def type_words(self) -> str:
        """The type and its bounds in words: "whole number, at least 1"."""
        return ", ".join([type_words(self.type), *_bound_words(self.bounds)])


def fields_of(schema: type) -> list[FieldSpec]:
    """Return the fields of settings (or another pydantic model), of a dataclass or of a NamedTuple, in order."""
    return list(_fields(schema))


@cache
def _fields(schema: type) -> tuple[FieldSpec, ...]:
    """Return the fields, which are read once: every row of a call asks for those of its class."""
    if issubclass(schema, BaseModel):
        return tuple(_of_model(name, field, schema) for name, field in schema.model_fields.items())
    hints = get_type_hints(schema, include_extras=True)
    if dataclasses.is_dataclass(schema):
        return tuple(_annotated(each.name, hints[each.name], _default(each)) for each in dataclasses.fields(schema))
    defaults: dict[str, object] = getattr(schema, "_field_defaults", {})
    names = getattr(schema, "_fields", ())
    return tuple(_annotated(name, hints[name], defaults.get(name, REQUIRED)) for name in names)


def find_field(schema: type[Settings], dotted: str) -> FieldSpec | None:
    """Return the field of a dotted name such as train.steps, looked up in the groups of settings; None: none."""
    name, _, rest = dotted.partition(".")
    field = next((each for each in fields_of(schema) if each.name == name), None)
    if field is None or not rest:
        return field
    for inner in schemas_in(field.type):
        if (deeper := find_field(inner, rest)) is not None:
            return deeper
    tables = [each for each in (field.type, *get_args(field.type)) if get_origin(each) is dict]
    name, _, rest = rest.partition(".")
    inside = (inner for table in tables for inner in schemas_in(get_args(table)[1]))
    return next((deeper for inner in inside if rest and (deeper := find_field(inner, rest)) is not None), None)


def _of_model(name: str, field: FieldInfo, schema: type[BaseModel]) -> FieldSpec:
    default = REQUIRED if field.is_required() else field.get_default(call_default_factory=True)
    bases = (each.model_fields for each in schema.__mro__ if issubclass(each, BaseModel))
    described = (each[name].description for each in bases if name in each)
    doc = " ".join(next(filter(None, described), "").split())
    return FieldSpec(name, field.annotation, doc, default, tuple(_bounds(field.metadata)), _group(name, schema))


def _group(name: str, schema: type[BaseModel]) -> str:
    """Return the heading of a field: the one in `headings` of the class, or of a base of it."""
    groups = (vars(each).get("headings", {}) for each in schema.__mro__)
    return next((title for each in groups for title, names in each.items() if name in names), "")


def _default(field: "dataclasses.Field[object]") -> object:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return REQUIRED if field.default is dataclasses.MISSING else field.default


def _annotated(name: str, hint: object, default: object) -> FieldSpec:
    kind, extras = _unwrapped(hint)
    doc = next((each.text for each in extras if isinstance(each, Doc)), "")
    return FieldSpec(name, kind, doc, default, tuple(_bounds(extras)))


def _unwrapped(hint: object) -> tuple[object, tuple[object, ...]]:
    return (get_args(hint)[0], get_args(hint)[1:]) if get_origin(hint) is Annotated else (hint, ())


def _bounds(extras: Iterable[object]) -> Iterator[tuple[str, float]]:
    for each in extras:
        for bound in each.metadata if isinstance(each, FieldInfo) else [each]:
            yield from ((name, getattr(bound, name)) for name in BOUNDS if getattr(bound, name, None) is not None)


def _bound_words(bounds: Iterable[tuple[str, float]]) -> list[str]:
    return [f"{BOUNDS[name]} {value:,}" for name, value in bounds]


def type_words(annotation: object) -> str:
    """Return a type in words, the bounds of its parts with it."""
    kind, extras = _unwrapped(annotation)
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        words = " or ".join(dict.fromkeys(type_words(part) for part in parts if part is not NoneType))
    elif origin is Literal:
        words = f"one of {', '.join(map(str, parts))}" if len(parts) > 1 else str(parts[0])
    elif origin in (tuple, list):
        inner = dict.fromkeys(type_words(part) for part in parts if part is not Ellipsis)
        words = f"list of {' and '.join(inner)}"
    else:
        words = NAMES.get(origin or kind) or "table of settings"
    return ", ".join([words, *_bound_words(_bounds(extras))])
