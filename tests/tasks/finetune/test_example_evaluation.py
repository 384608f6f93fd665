"""Metrics with intervals, and paired comparisons of predictions."""

import pytest

from head_bundles import TEXTS, head_bundle
from regard.data.sources.labeled import LabeledRow
from regard.errors import DataError
from regard.tasks.classify.pipeline import Classifier
from regard.tasks.classify.task import TASK
from regard.tasks.data import EvalSet
from regard.tasks.finetune.evaluate import ERRORS, all_metrics, compare_predictions, evaluate_examples
from regard.tasks.finetune.predictions import Predictions

ROWS = [LabeledRow((text,), "abc"[number % 3]) for number, text in enumerate(TEXTS)]
SET = EvalSet("test", ROWS)


def test_an_evaluation_agrees_with_the_pipeline():
    classifier = Classifier(head_bundle("classify"))
    evaluation = evaluate_examples(TASK, classifier, SET)
    labels = [each.label for each in classifier(TEXTS)]
    assert list(evaluation.outputs) == labels and evaluation.metrics["examples"] == 30
    right = sum(label == row.label for label, row in zip(labels, ROWS, strict=True))
    assert evaluation.metrics["accuracy"] == pytest.approx(right / 30) and "mix" not in evaluation.metrics
    assert len(evaluation.metrics["errors"]) == min(ERRORS, 30 - right)
    encoded = EvalSet("test", ROWS, encoded=TASK.encode(ROWS, classifier.bundle))
    assert evaluate_examples(TASK, classifier, encoded).metrics == evaluation.metrics


def test_scores_are_in_percent_with_a_signature_and_an_interval():
    facts = TASK.read_facts(head_bundle("classify"))
    lines = [row.label for row in ROWS[:20]] + ["a"] * 10
    metrics = all_metrics(TASK, SET, Predictions(lines, [0.5] * 30, 1.25), facts)
    assert metrics["loss"] == 1.25 and metrics["test_set"] == TASK.set_hashes(SET)
    assert metrics["scores"][0] == {
        "name": "accuracy %",
        "value": 100 * metrics["accuracy"],
        "signature": "30 examples",
    }
    for name, (low, high) in metrics["intervals"].items():
        assert low <= metrics[name] <= high and low < high


def test_equal_predictions_do_not_differ_and_worse_ones_do():
    bundle, right, wrong = head_bundle("classify"), [row.label for row in ROWS], ["a"] * 30
    same = compare_predictions(TASK, bundle, SET, (right, right))
    assert [each.name for each in same] == ["accuracy %", "macro F1 %", "Matthews %"]
    assert all(each.value == 0 and not each.is_significant for each in same)
    accuracy = compare_predictions(TASK, bundle, SET, (right, wrong))[0]
    assert accuracy.first == 100 and accuracy.value == pytest.approx(200 / 3) and accuracy.is_significant


def test_predictions_that_cannot_be_paired_are_refused():
    bundle = head_bundle("classify")
    with pytest.raises(DataError, match="test: 30 and 29 predictions cannot be paired."):
        compare_predictions(TASK, bundle, SET, (["a"] * 30, ["a"] * 29))
    with pytest.raises(DataError, match="its predictions are not those of the task .'z'.; evaluate it again."):
        compare_predictions(TASK, bundle, SET, (["a"] * 30, ["z"] * 30))
