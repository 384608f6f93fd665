"""Metrics with intervals, and paired comparisons of predictions."""

import pytest

from head_bundles import TEXTS, head_bundle
from regard.data.sources.labeled import LabeledRow
from regard.errors import DataError
from regard.metrics.bootstrap import bootstrap
from regard.runs.scores.rival import ScoredSystem, compare_systems
from regard.tasks.classify.pipeline import Classifier
from regard.tasks.classify.task import TASK
from regard.tasks.data import EvalSet
from regard.tasks.finetune.evaluate import ERRORS, evaluate_examples, evaluated_predictions, output_statistics
from regard.tasks.finetune.predictions import Predictions

ROWS = [LabeledRow((text,), "abc"[number % 3]) for number, text in enumerate(TEXTS)]
SET = EvalSet("test", ROWS)


def test_an_evaluation_agrees_with_the_pipeline():
    classifier = Classifier(head_bundle("classify"))
    evaluation = evaluate_examples(TASK, classifier, SET)
    labels = [each.label for each in classifier(TEXTS)]
    assert list(evaluation.outputs) == labels and evaluation.metrics["examples"] == 30
    right = sum(label == row.label for label, row in zip(labels, ROWS, strict=True))
    assert evaluation.metrics["accuracy"] == pytest.approx(right / 30) and "mix" not in evaluation.details
    assert len(evaluation.details["errors"]) == min(ERRORS, 30 - right)
    encoded = EvalSet("test", ROWS, encoded=TASK.encode(ROWS, classifier.bundle))
    assert evaluate_examples(TASK, classifier, encoded).metrics == evaluation.metrics


def test_scores_are_in_percent_with_a_signature_and_an_interval():
    facts = TASK.read_facts(head_bundle("classify"))
    lines = [row.label for row in ROWS[:20]] + ["a"] * 10
    evaluation = evaluated_predictions(TASK, SET, Predictions(lines, [0.5] * 30, 1.25), facts)
    assert evaluation["loss"] == 1.25 and evaluation.hashes == TASK.set_hashes(SET)
    first = evaluation.scores[0]
    assert (first.name, first.value, first.key) == ("accuracy %", 100 * evaluation["accuracy"], "accuracy")
    assert first.signature == "30 examples"
    for name, (low, high) in bootstrap(evaluation.statistics, 30).items():
        assert low <= evaluation[name] <= high and low < high


def compared(first, second):
    bundle = head_bundle("classify")
    systems = [
        ScoredSystem(str(n), output_statistics(TASK, bundle, SET, each), 30) for n, each in enumerate((first, second))
    ]
    return compare_systems(TASK, "test", *systems).differences


def test_equal_predictions_do_not_differ_and_worse_ones_do():
    right, wrong = [row.label for row in ROWS], ["a"] * 30
    same = compared(right, right)
    assert [each.metric.label for each in same] == ["accuracy", "macro F1", "Matthews"]
    assert all(each.value == 0 and not each.is_significant for each in same)
    accuracy = compared(right, wrong)[0]
    assert accuracy.first == 1 and accuracy.value == pytest.approx(2 / 3) and accuracy.is_significant


def test_outputs_that_are_no_predictions_of_the_set_are_refused():
    bundle = head_bundle("classify")
    with pytest.raises(DataError, match="29 lines, but test has 30 examples; give one prediction a line."):
        output_statistics(TASK, bundle, SET, ["a"] * 29)
    with pytest.raises(DataError, match="the lines are not predictions of a classifier for test .'z'.; evaluate it"):
        output_statistics(TASK, bundle, SET, ["z"] * 30)
