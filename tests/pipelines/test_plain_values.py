"""Values of JSON from records, arrays and results."""

import json
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from regard.pipelines.base import Result
from regard.pipelines.plain_values import fields_in, plain


class Both(NamedTuple):
    one: str
    other: str | None


@dataclass(frozen=True)
class Found(Result):
    row: Both
    text: str
    values: np.ndarray
    hidden: object = field(repr=False)


def test_records_arrays_and_results_become_json():
    result = Found(Both("a", None), "b", np.ones(2), object())
    expected = {"one": "a", "text": "b", "values": [1.0, 1.0]}
    assert fields_in(Both("a", None)) == {"one": "a"}
    assert plain({1: (result, Both("c", "d")), "n": np.float32(0.5)}) == {
        "1": [expected, {"one": "c", "other": "d"}],
        "n": 0.5,
    }
    assert json.loads(json.dumps(plain([result]))) == [expected]
