"""The task classify: labels, predictions and metrics."""

import numpy as np
import pytest

from head_bundles import TEXTS, head_bundle
from labeled import Telling
from regard.data.sources.labeled import LabeledRow
from regard.errors import DataError
from regard.tasks.classify.task import FEW_LABELS, TASK
from regard.tasks.finetune.predictions import Predictions

ROWS = [LabeledRow((text,), label) for text, label in zip(TEXTS, "abca")]


def labeled(*labels: str) -> list[LabeledRow]:
    return [LabeledRow((str(number),), label) for number, label in enumerate(labels)]


@pytest.mark.parametrize(
    ("given", "labels"),
    [
        ("b a b", ["a", "b"]),
        ("10 9 2", ["2", "9", "10"]),
        ("10 9 -1", ["-1", "10", "9"]),
        ("10 9 x", ["10", "9", "x"]),
    ],
)
def test_labels_are_in_numerical_or_alphabetical_order(given, labels):
    assert TASK.labels(labeled(*given.split()), "train") == labels


def test_a_column_with_too_few_or_too_many_values_holds_no_labels():
    with pytest.raises(DataError) as error:
        TASK.labels(labeled("a", "a"), "a.csv")
    assert str(error.value) == (
        'a.csv: every example has the label "a", so there is nothing to distinguish; give some of another.'
    )
    assert len(TASK.labels(labeled(*map(str, range(FEW_LABELS))), "a.csv")) == FEW_LABELS
    with pytest.raises(DataError, match="a.csv: 21 labels for 21 examples are too many; name the right column with"):
        TASK.labels(labeled(*map(str, range(FEW_LABELS + 1))), "a.csv")


def test_label_ids_of_another_library_become_labels():
    bundle, progress = head_bundle("classify", labels=["no", "yes"]), Telling()
    assert [each.label for each in TASK.adapt("x", labeled("1", "0"), bundle, progress)] == ["yes", "no"]
    assert progress.said == ["x: 0 is no, 1 is yes."]
    for given in (("yes", "0"), ("0", "2")):
        assert [each.label for each in TASK.adapt("x", labeled(*given), bundle, progress)] == list(given)


def test_examples_have_the_ids_of_their_labels():
    bundle = head_bundle("classify")
    assert TASK.encode(ROWS, bundle).labels.tolist() == [0, 1, 2, 0] and TASK.outputs(TASK.read_facts(bundle)) == 3


def test_predictions_are_the_most_probable_labels():
    bundle = head_bundle("classify")
    encoded, logits = TASK.encode(ROWS[:2], bundle), [np.log([0.7, 0.2, 0.1]), np.log([0.5, 0.1, 0.4])]
    predictions = TASK.predictions(ROWS[:2], encoded, logits, TASK.read_facts(bundle))
    assert predictions.lines == ["a", "a"] and predictions.confidence == pytest.approx([0.7, 0.5])
    assert predictions.loss == pytest.approx(-np.log([0.7, 0.1]).mean())


def test_metrics_are_those_of_the_bootstrap_with_every_example_once():
    facts = TASK.read_facts(head_bundle("classify"))
    lines = ["a", "b", "b", "c"]
    metrics = TASK.compute_metrics(ROWS, Predictions(lines, [1.0] * 4, 0.0), facts)
    assert metrics["accuracy"] == 0.5 and metrics["majority_baseline"] == 0.5
    assert metrics["confusion"] == [[1, 0, 1], [0, 1, 0], [0, 1, 0]]
    assert metrics["macro_f1"] == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    for name, statistic in TASK.statistics_of(ROWS, lines, facts).items():
        assert statistic(np.ones(4)) == pytest.approx(metrics[name])
    assert TASK.statistics_of(ROWS, lines, facts)["accuracy"](np.array([3, 1, 0, 0])) == 1.0


def test_other_labels_are_refused():
    with pytest.raises(DataError, match='test: the label "z" .once. does not occur in the training set .a, b, c.'):
        TASK.check_rows("test", labeled("a", "z"), TASK.read_facts(head_bundle("classify")))
