import numpy as np
import pytest

from regard.metrics.bootstrap import bootstrap
from regard.metrics.classification import label_scores, label_statistics
from regard.metrics.comparison import ComparedMetric
from regard.metrics.significance import paired_bootstrap


def test_scores_of_labels_by_hand():
    found = label_scores([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 2, 2], ["a", "b", "c"])
    assert found.accuracy == pytest.approx(4 / 6)
    assert found.confusion == ((2, 1, 0), (0, 1, 1), (0, 0, 1))
    a, b, c = found.classes
    assert (a.precision, a.recall, a.f1, a.count) == pytest.approx((1.0, 2 / 3, 0.8, 3))
    assert (b.precision, b.recall, b.f1, b.count) == pytest.approx((0.5, 0.5, 0.5, 2))
    assert (c.precision, c.recall, c.f1, c.count) == pytest.approx((0.5, 1.0, 2 / 3, 1))
    assert found.macro_f1 == pytest.approx((0.8 + 0.5 + 2 / 3) / 3) and c.label == "c"


def test_a_label_that_occurs_nowhere_does_not_count_against_the_mean():
    found = label_scores([0, 1], [0, 1], ["a", "b", "c"])
    assert found.macro_f1 == found.accuracy == 1.0 and found.classes[2].f1 == 0.0


def test_statistics_are_the_scores_and_know_repeated_examples():
    draw = np.random.default_rng(0)
    truth, said = draw.integers(0, 4, 60), draw.integers(0, 4, 60)
    counts = draw.integers(0, 3, 60)
    for weights in (np.ones(60, int), counts):
        found = label_scores(np.repeat(truth, weights).tolist(), np.repeat(said, weights).tolist(), list("abcd"))
        statistics = label_statistics(truth, said, 4)
        for name in ("accuracy", "macro_f1", "matthews"):
            assert statistics[name](weights.astype(float)) == pytest.approx(getattr(found, name)), name


def test_guessing_is_correlated_with_nothing():
    assert label_scores([0, 0, 0, 1], [0, 0, 0, 0], ["a", "b"]).matthews == 0.0
    assert label_statistics([0, 0, 0, 1], [0, 0, 0, 0], 2)["matthews"](np.ones(4)) == 0.0


def test_two_systems_on_the_same_examples_share_their_luck():
    truth = np.arange(400) % 2
    one, other = (
        np.where(np.arange(400) % 10 == 0, 1 - truth, truth),
        np.where(np.arange(400) < 120, 1 - truth, truth),
    )
    first, second = (label_statistics(truth, said, 2) for said in (one, other))
    metrics = [ComparedMetric("accuracy", "accuracy")]
    (found,) = paired_bootstrap(metrics, first, second, 400)
    assert found.first == pytest.approx(0.9) and found.second == pytest.approx(0.7)
    assert found.is_significant and found.interval.low < 0.2 < found.interval.high
    assert found.first_interval == bootstrap(first, 400)["accuracy"]
    assert not paired_bootstrap(metrics, first, first, 400)[0].is_significant


def test_one_label_that_is_always_right_is_related_to_nothing():
    assert label_scores([0] * 3, [0] * 3, ["a", "b"]).matthews == 0.0
