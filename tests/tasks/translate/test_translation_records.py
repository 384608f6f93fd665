"""Schemas of a translator's files."""

import pytest
from pydantic import ValidationError

from regard.tasks.record import ScoresRecord
from regard.tasks.translate.records import PairReport, TranslateFacts
from translation_records import translation_record, translation_scores


def test_scores_have_metrics_and_intervals_of_them():
    scores = ScoresRecord.model_validate(translation_scores())
    assert scores.metric("bleu") == 31.456 and scores.metric("other") is None
    with pytest.raises(ValidationError, match=r"intervals.speed belongs to no metric"):
        ScoresRecord.model_validate(translation_scores() | {"intervals": {"speed": [1.0, 2.0]}})


@pytest.mark.parametrize("changes", [{"scores": []}, {"scores": [{"name": 3}]}, {"decode": None}, {"test_set": {}}])
def test_impossible_scores_are_refused(changes):
    with pytest.raises(ValidationError):
        ScoresRecord.model_validate(translation_scores() | changes)


def test_a_report_counts_pairs_of_both_sets_and_keeps_the_origin_of_weights():
    data = translation_record()["data"]
    report = PairReport.model_validate(data | {"init_from": {"path": "first", "sha256": "ab"}})
    assert report.train.kept == 8 and report.init_from is not None and report.init_from.path == "first"
    assert PairReport.model_validate(report.model_dump()) == report
    with pytest.raises(ValidationError):
        PairReport.model_validate(data | {"valid": {"read": 1, "kept": 1, "dropped": {"empty": -1}}})


def test_sources_need_training_data_and_test_sets_by_name():
    sources = PairReport.sources.model_validate({"train": {"source": "a.de", "target": "a.en"}, "test": {}})
    assert sources.valid is None and sources.train.references == []
    with pytest.raises(ValidationError):
        PairReport.sources.model_validate({"train": {"path": 3}, "test": {}})


def test_facts_have_decoding_defaults():
    assert TranslateFacts.model_validate({}).decode == {}
    with pytest.raises(ValidationError):
        TranslateFacts.model_validate({"decode": [5]})
