"""Fields of Hugging Face's JSON files keep possible values and refuse others with a reason."""

import pytest
from pydantic import TypeAdapter, ValidationError

from regard.interop.huggingface.fields import (
    LARGEST_SIZE,
    Column,
    Epsilon,
    Ids,
    Inside,
    Labels,
    Length,
    Rate,
    Size,
    Token,
    Vocabulary,
)

KEPT = [
    (Size, 1),
    (Size, LARGEST_SIZE),
    (Length, 8),
    (Rate, 0.0),
    (Epsilon, 1e-12),
    (Ids, None),
    (Ids, 3),
    (Ids, [1, 2]),
    (Labels, {"0": "a", "1": 2.5}),
    (Labels, None),
    (Token, "[MASK]"),
    (Token, {"content": "[MASK]", "lstrip": True}),
    (Token, None),
    (Vocabulary, {"a": 0}),
    (Vocabulary, [["a", -1.5], ["b", 0.0]]),
    (Column, 0),
    (Column, "text"),
    (Inside, ""),
    (Inside, "1_Pooling"),
]
REFUSED = [
    (Size, 0, "greater than or equal to 1"),
    (Size, LARGEST_SIZE + 1, "less than or equal to"),
    (Length, 7, "greater than or equal to 8"),
    (Rate, 1.0, "less than 1"),
    (Epsilon, float("nan"), "finite"),
    (Ids, True, "true is not the id of a token"),
    (Ids, [1, -1], "-1 is not the id of a token"),
    (Labels, {"a": "b"}, "it does not give each label a number"),
    (Labels, {"0": "a", "00": "b"}, "it does not give each label a number"),
    (Labels, {"0": "a", "1": "a"}, 'two labels are called "a"'),
    (Labels, {"0": ["a"]}, "a label is neither text nor a number"),
    (Token, {"lstrip": True}, "this is not a token"),
    (Vocabulary, {"a": "0"}, '"0" is not the id of a token, as that of "a"'),
    (Vocabulary, [["a"]], "an entry is not a token with its score"),
    (Vocabulary, "a", "it is neither a JSON object nor a list"),
    (Column, 1.5, "this is not a column"),
    (Inside, "../elsewhere", ""),
]


@pytest.mark.parametrize(("kind", "value"), KEPT)
def test_a_possible_value_is_kept(kind, value):
    assert TypeAdapter(kind).validate_python(value) == value


@pytest.mark.parametrize(("kind", "value", "reason"), REFUSED)
def test_an_impossible_value_is_refused_with_its_reason(kind, value, reason):
    with pytest.raises(ValidationError) as error:
        TypeAdapter(kind).validate_python(value)
    assert reason in str(error.value)


def test_a_long_value_is_shown_in_part():
    with pytest.raises(ValidationError) as error:
        TypeAdapter(Ids).validate_python(["x" * 1000])
    assert "x" * 38 + "…" in error.value.errors()[0]["msg"] and "x" * 39 not in error.value.errors()[0]["msg"]
