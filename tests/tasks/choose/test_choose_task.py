"""The task choose: predictions and metrics of multiple choice."""

import numpy as np
import pytest

from head_bundles import TEXTS, head_bundle
from regard.data.sources.multiple_choice import MultipleChoiceRow
from regard.tasks.choose.task import TASK
from regard.tasks.finetune.predictions import ErrorExample, Predictions

ROWS = [
    MultipleChoiceRow(TEXTS[0], ("one  way", "another"), 0),
    MultipleChoiceRow(TEXTS[1], ("x", "y", "z", "w"), 2),
]


def test_the_order_of_choices_does_not_identify_an_example():
    swapped = MultipleChoiceRow(TEXTS[0], ("another", "one  way"), 1)
    assert TASK.texts(swapped) == TASK.texts(ROWS[0]) and TASK.target(swapped) == TASK.target(ROWS[0]) == "one way"
    assert TASK.vocabulary(swapped) == (TEXTS[0], "another", "one  way")
    assert TASK.label_counts([*ROWS, swapped]) == {"0": 1, "1": 1, "2": 1}


def test_only_an_empty_context_is_dropped():
    assert TASK.reason_to_drop(ROWS[0]) is None and TASK.reason_to_drop(ROWS[0]._replace(context="")) == "empty"


def test_predictions_are_the_most_probable_choices():
    bundle = head_bundle("choose")
    encoded, logits = TASK.encode(ROWS, bundle), [np.log([0.8, 0.2]), np.log([0.1, 0.6, 0.2, 0.1])]
    predictions = TASK.predictions(ROWS, encoded, logits, TASK.read_facts(bundle))
    assert predictions.lines == ["one way", "y"] and predictions.confidence == pytest.approx([0.8, 0.6])
    assert predictions.loss == pytest.approx(-np.log([0.8, 0.2]).mean())
    assert TASK.errors(ROWS, predictions, 5) == [ErrorExample([TEXTS[1]], "z", "y", pytest.approx(0.6))]


def test_accuracy_is_compared_with_random_guessing():
    facts = TASK.read_facts(head_bundle("choose"))
    metrics = TASK.compute_metrics(ROWS, Predictions(["one way", "y"], [1.0] * 2, 0.0), facts)
    assert metrics == {"accuracy": 0.5, "majority_baseline": (1 / 2 + 1 / 4) / 2}
    accuracy = TASK.statistics_of(ROWS, ["one way", "y"], facts)["accuracy"]
    assert accuracy(np.array([1, 1])) == 0.5 and accuracy(np.array([3, 1])) == 0.75
