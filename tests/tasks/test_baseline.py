"""The level of constant predictions."""

import math

import numpy as np
import pytest

from regard.tasks.baseline import entropy, label_baseline, token_baseline


def test_the_loss_of_frequencies_is_their_entropy():
    assert entropy(np.array([1, 1, 0, 2])) == pytest.approx(1.5 * math.log(2))
    assert token_baseline(np.array([3, 3, 5, 5])) == {"loss": pytest.approx(math.log(2))}
    assert token_baseline(np.array([3, 3, 5, 5]), "mlm_loss") == {"mlm_loss": pytest.approx(math.log(2))}
    assert token_baseline(np.array([3, 3, 3])) == {}  # nothing is better than a constant
    assert token_baseline(np.array([], np.int64)) == {}


def test_labels_have_the_accuracy_of_the_most_frequent_one():
    assert label_baseline({"a": 3, "b": 1}) == {"accuracy": 0.75, "loss": pytest.approx(0.5623, abs=1e-4)}
    assert label_baseline({}) == label_baseline({"a": 3}) == {}
