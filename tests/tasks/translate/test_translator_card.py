"""The card of a translator: the counts of its data."""

from pathlib import Path

import pytest

from regard.tasks.card import CardInput
from regard.tasks.record import RunRecord
from regard.tasks.translate.card import data_section
from regard.tasks.translate.records import PairReport
from translation_records import translation_record


@pytest.fixture
def record():
    values = translation_record()
    report = PairReport.model_validate(values["data"])
    return RunRecord.model_validate(values | {"path": Path("r"), "data": report})


def test_the_data_section_has_counts_reasons_and_hashes(record):
    lines = data_section(CardInput(Path("r"), record))
    assert "| train | `a.tsv` (at most 1,000) | 10 | 8 | 1 empty, 1 duplicate | 2 for validation |" in lines
    assert "| valid | held out of train | 10 | 8 | 1 empty, 1 duplicate |  |" in lines
    assert "| test t | `t.tsv` |  |  | never cleaned |  |" in lines
    assert f"| `a.tsv` | `{'1' * 64}` |" in lines
