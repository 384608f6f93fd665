"""Fields of settings, dataclasses and NamedTuples read alike."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from pydantic import Field

from regard.config.schema import REQUIRED, Doc, FieldSpec, fields_of, find_field, type_words
from regard.config.settings import Settings


class Inner(Settings):
    size: int = Field(3, ge=1, lt=9)
    """Number of things,
    in all."""
    ratio: Annotated[int, Field(ge=0)] | Annotated[float, Field(gt=0, lt=1)] = 0.5


class Outer(Settings):
    name: str
    """Its name."""
    inner: Inner = Inner()
    sets: dict[str, Inner] = Field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    text: Annotated[str, Doc("The text.")]
    topics: Annotated[tuple[str, ...], Doc("Its topics.")] = ()
    scores: list[float] = field(default_factory=list)


class Named(NamedTuple):
    text: Annotated[str, Doc("The text.")]
    count: int = 1


def test_settings_dataclasses_and_named_tuples_are_read_alike():
    assert fields_of(Inner)[0] == FieldSpec("size", int, "Number of things, in all.", 3, (("ge", 1), ("lt", 9)))
    assert fields_of(Outer)[0] == FieldSpec("name", str, "Its name.", REQUIRED)
    assert fields_of(Row) == [
        FieldSpec("text", str, "The text."),
        FieldSpec("topics", tuple[str, ...], "Its topics.", ()),
        FieldSpec("scores", list[float], "", []),
    ]
    assert fields_of(Named) == [FieldSpec("text", str, "The text."), FieldSpec("count", int, "", 1)]
    assert [each.is_required for each in fields_of(Row)] == [True, False, False]


def test_a_dotted_name_leads_to_its_field_through_groups_and_tables():
    assert find_field(Outer, "inner.size") == fields_of(Inner)[0]
    assert find_field(Outer, "sets.mine.size") == fields_of(Inner)[0]
    for name in ("inner.sizes", "other", "sets.mine", "name.size"):
        assert find_field(Outer, name) is None


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (int | None, "whole number"),
        (Literal["a", "b"], "one of a, b"),
        (tuple[str, ...], "list of text"),
        (dict[str, int], "table"),
        (Inner, "table of settings"),
        (Any, "any value"),
        (str | Annotated[int, Field(ge=0)], "text or whole number, at least 0"),
    ],
)
def test_a_type_has_words(annotation, words):
    assert type_words(annotation) == words


def test_bounds_are_part_of_the_words():
    size, ratio = (each.type_words for each in fields_of(Inner))
    assert size == "whole number, at least 1, below 9"
    assert ratio == "whole number, at least 0 or number, above 0, below 1"
