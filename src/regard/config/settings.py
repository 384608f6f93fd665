"""The base class of all settings schemas, and their dotted names."""

from collections.abc import Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, ClassVar, Union, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict


def split_at_commas(words: object) -> object:
    """Return a text, or a list of texts, split at commas; a comma alone, and anything else, as it is."""
    words = [words] if isinstance(words, str) else words
    if not isinstance(words, list | tuple) or not all(isinstance(each, str) for each in words):
        return words
    return tuple(part.strip() for each in words for part in (each.split(",") if each.strip(", ") else [each]))


Words = Annotated[tuple[str, ...], BeforeValidator(split_at_commas)]
"""Several words: a list, or text with commas between them."""


class Settings(BaseModel):
    """A frozen group of settings; an unknown key is an error, and a docstring under a field describes it."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        use_attribute_docstrings=True,
        allow_inf_nan=False,
        protected_namespaces=(),
    )
    headings: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The headings under which forms and help show fields, those of subclasses too."""

    @classmethod
    @cache  # pydantic's own cache drops a schema that nothing refers to, and making one takes long
    def __class_getitem__(cls, arguments: object) -> object:  # type: ignore[override]
        """Return the schema for type arguments."""
        return super().__class_getitem__(arguments)  # type: ignore[arg-type]


def schemas_in(annotation: Any) -> Iterator[type[Settings]]:
    """Yield the Settings classes an annotation such as `Inner | None` admits."""
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        yield annotation
    elif get_origin(annotation) in (Union, UnionType):
        for part in get_args(annotation):
            yield from schemas_in(part)


def setting_names(schema: type[Settings], prefix: str = "") -> Iterator[str]:
    """Yield all dotted names of a schema, groups included."""
    for name, field in schema.model_fields.items():
        yield prefix + name
        for inner in schemas_in(field.annotation):
            yield from setting_names(inner, f"{prefix}{name}.")


def flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (dotted name, value) for every leaf of nested tables; an empty table is a leaf."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value
