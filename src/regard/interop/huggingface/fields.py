"""Field types of the JSON files in a Hugging Face folder: sizes, rates, ids, labels, tokens, names."""

import json
from collections import Counter
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from regard.config.names import check_relative
from regard.config.parsing import parse_integer
from regard.text.tokenizer import LARGEST_ID

LARGEST_SIZE = 2**24
"""Maximum of widths, layers and positions: the product of two still fits a tensor's element count."""

Size = Annotated[int, Field(ge=1, le=LARGEST_SIZE)]
Length = Annotated[int, Field(ge=8, le=LARGEST_SIZE)]
"""Tokens of a sequence, special tokens included."""
Rate = Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)]
Epsilon = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Id = Annotated[int, Field(ge=0, lt=LARGEST_ID)]


def _shown(value: Any) -> str:
    """Return a value as ASCII JSON, truncated to 40 characters."""
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


def _ids(value: Any) -> Any:
    """Return a token id, a list of ids or None, checked."""
    for each in value if isinstance(value, list) else [] if value is None else [value]:
        if type(each) is not int or not 0 <= each < LARGEST_ID:
            raise ValueError(f"{_shown(each)} is not the id of a token")
    return value


def _labels(value: Any) -> Any:
    """Return label names by id, checked; JSON writes the ids as strings."""
    if value is None:
        return value
    if not isinstance(value, dict) or len({parse_integer(name) for name in value} - {None}) != len(value):
        raise ValueError("it does not give each label a number")
    if not all(isinstance(name, str | int | float) for name in value.values()):
        raise ValueError("a label is neither text nor a number")
    counts = Counter(map(str, value.values()))
    if counts and max(counts.values()) > 1:
        raise ValueError(f"two labels are called {_shown(counts.most_common(1)[0][0])}")
    return value


def _token(value: Any) -> Any:
    """Return a special token, given as a string or an object, checked."""
    content = value.get("content") if isinstance(value, dict) else value
    if not isinstance(content, str | None) or (content is None and value is not None):
        raise ValueError("this is not a token")
    return value


def _vocabulary(value: Any) -> Any:
    """Return ids by token, or a list of [token, score], checked."""
    if isinstance(value, dict):
        for token, number in value.items():
            if type(number) is not int or not 0 <= number < LARGEST_ID:
                raise ValueError(f"{_shown(number)} is not the id of a token, as that of {_shown(token)}")
    elif not isinstance(value, list):
        raise ValueError("it is neither a JSON object nor a list")
    elif not all(isinstance(each, list) and len(each) == 2 and isinstance(each[0], str) for each in value):
        raise ValueError("an entry is not a token with its score")
    return value


def _column(value: Any) -> Any:
    """Return the name or number of a column, checked."""
    if type(value) not in (str, int):
        raise ValueError("this is not a column")
    return value


Ids = Annotated[Any, AfterValidator(_ids)]
Labels = Annotated[Any, AfterValidator(_labels)]
Token = Annotated[Any, AfterValidator(_token)]
Vocabulary = Annotated[Any, AfterValidator(_vocabulary)]
Column = Annotated[Any, AfterValidator(_column)]
Inside = Annotated[str, AfterValidator(lambda name: name and check_relative(name))]
"""A path below a folder, or the folder itself."""
