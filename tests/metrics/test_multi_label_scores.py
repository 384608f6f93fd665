"""Metrics of texts with several labels, or none."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from regard.metrics.multi_label import label_matrix, multi_label_scores, multi_label_statistics


def test_scores_by_hand():
    truth = label_matrix([["a", "b"], ["a"], []], ["a", "b"])
    predicted = label_matrix([["a"], ["a", "b"], []], ["a", "b"])
    scores = multi_label_scores(truth, predicted, ["a", "b"])
    assert scores.exact_match == pytest.approx(1 / 3) and scores.micro_f1 == pytest.approx(4 / 6)
    assert scores.macro_f1 == pytest.approx((1.0 + 0.0) / 2)
    a, b = scores.classes
    assert (a.label, a.precision, a.recall, a.f1, a.count) == ("a", 1.0, 1.0, 1.0, 2)
    assert (b.precision, b.recall, b.f1, b.count) == (0.0, 0.0, 0.0, 1)


def test_scores_are_those_of_scikit_learn_and_statistics_those_of_repeated_examples():
    draw = np.random.default_rng(0)
    truth, predicted = draw.random((60, 5)) < 0.4, draw.random((60, 5)) < 0.4
    for counts in (np.ones(60, int), draw.integers(0, 3, 60)):
        one, other = np.repeat(truth, counts, 0), np.repeat(predicted, counts, 0)
        expected = {
            "micro_f1": f1_score(one, other, average="micro"),
            "macro_f1": f1_score(one, other, average="macro"),
            "exact_match": accuracy_score(one, other),
        }
        for name, statistic in multi_label_statistics(truth, predicted).items():
            assert statistic(counts.astype(float)) == pytest.approx(expected[name]), name


def test_a_label_that_occurs_nowhere_does_not_count_against_the_mean():
    truth = label_matrix([["a"], []], ["a", "b"])
    scores = multi_label_scores(truth, truth, ["a", "b"])
    assert scores.macro_f1 == scores.micro_f1 == scores.exact_match == 1.0 and scores.classes[1].f1 == 0.0
    empty = label_matrix([[], []], ["a"])
    assert multi_label_scores(empty, empty, ["a"]).macro_f1 == 0.0


def test_an_unknown_label_has_no_column():
    with pytest.raises(KeyError):
        label_matrix([["z"]], ["a"])
