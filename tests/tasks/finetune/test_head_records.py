"""Facts, data reports and scores of fine-tuned models are checked when they are read."""

import pytest
from pydantic import ValidationError

from regard.models.base.settings import HeadSettings
from regard.tasks.classify.records import ClassifyFacts
from regard.tasks.finetune.records import ExampleReportRecord, HeadFacts, HeadScores, LabelFacts, TextFacts

COUNTS = {"read": 3, "kept": 2, "dropped": {"empty": 1}, "labels": {"a": 2}, "contradictory": 0, "truncated": 0}
REPORT = {"hash": "x", "train": COUNTS, "valid": COUNTS, "texts": 1}
SCORES = {
    "scores": [{"name": "accuracy %", "value": 50.0, "signature": "2 examples", "key": "accuracy"}],
    "examples": 2,
    "loss": 0.7,
    "test_set": {"sources": "s", "references": ["r"]},
    "accuracy": 0.5,
    "intervals": {"accuracy": [0.0, 1.0]},
    "decode": {},
    "errors": [],
}
CLASSES = [{"label": each, "count": 1, "precision": 0.5, "recall": 0.5, "f1": 0.5} for each in "ab"]


def test_a_label_has_the_id_of_its_output():
    facts = LabelFacts(max_length=8, labels=["x", "y"])
    assert facts.label_ids == {"x": 0, "y": 1} and facts.known_labels == ["x", "y"]
    assert HeadFacts(max_length=8).known_labels is None


@pytest.mark.parametrize(
    ("changes", "head", "sentence"),
    [
        ({}, HeadSettings(outputs=2), ""),
        ({}, HeadSettings(outputs=3), "labels: there are 2, but head.outputs is 3"),
        (
            {"pair_encoding": "both-orders"},
            HeadSettings(outputs=2),
            "pair_encoding: both-orders is for two texts, and texts is 1",
        ),
        (
            {"texts": 2},
            HeadSettings(kind="similarity", outputs=2),
            "pair_encoding: cross-encoder does not go with head.kind similarity",
        ),
    ],
)
def test_facts_that_contradict_the_head_are_reported(changes, head, sentence):
    known = {"max_length": 8, "labels": ["x", "y"], "texts": 1, "pair_encoding": "cross-encoder"} | changes
    assert ClassifyFacts(**known).conflict(head) == sentence


def test_facts_need_one_text_or_two():
    with pytest.raises(ValidationError):
        TextFacts(max_length=8, texts=3, pair_encoding="cross-encoder")


def test_test_sets_are_counted_beside_train_and_valid():
    report = ExampleReportRecord.model_validate(REPORT | {"test new": COUNTS})
    assert list(report.sets) == ["train", "valid", "test new"] and report.sets["test new"].kept == 2
    with pytest.raises(ValidationError, match="test new"):
        ExampleReportRecord.model_validate(REPORT | {"test new": {"kept": "many"}})


def test_metrics_are_looked_up_by_key():
    scores = HeadScores.model_validate(SCORES)
    assert scores.metric("accuracy") == 0.5 and scores.metric("spearman") is None and scores.metric("unknown") is None


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"intervals": {"f1": [0.0, 1.0]}}, "intervals.f1 belongs to no metric"),
        ({"intervals": {"accuracy": [0.0]}}, "intervals.accuracy belongs to no metric"),
        ({"classes": CLASSES, "confusion": [[1, 0]]}, "confusion has not 2 rows and columns, one for each label"),
    ],
)
def test_scores_that_contradict_themselves_are_refused(changes, sentence):
    HeadScores.model_validate(SCORES | {"classes": CLASSES, "confusion": [[1, 0], [1, 0]]})
    with pytest.raises(ValidationError, match=sentence):
        HeadScores.model_validate(SCORES | changes)
