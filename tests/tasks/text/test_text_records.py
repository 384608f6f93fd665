"""Schemas of running text in run.json."""

import pytest
from pydantic import ValidationError

from regard.tasks.text.records import TextReport
from run_records import COUNTS

REPORT = {"train": COUNTS, "valid": COUNTS, "window": 32, "folder": "corpora/x", "hash": "c0ffee"}


def test_test_sets_are_counted_beside_train_and_valid():
    report = TextReport.model_validate(REPORT | {"test news": COUNTS | {"words": 7}, "vocabulary": 3})
    assert {name: counts.words for name, counts in report.sets.items()} == {
        "train": 23456,
        "valid": 23456,
        "test news": 7,
    }
    assert report.plan == {"train_tokens": 34567, "valid_tokens": 34567, "window": 32}


@pytest.mark.parametrize("damage", [{"tokens": -1}, {"words": "many"}, {"bytes": None}])
def test_damaged_counts_of_a_test_set_are_refused_by_name(damage):
    with pytest.raises(ValidationError, match="test news"):
        TextReport.model_validate(REPORT | {"test news": COUNTS | damage})
