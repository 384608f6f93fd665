"""Numbers against numbers."""

import numpy as np
import pytest

from regard.metrics.bootstrap import bootstrap
from regard.metrics.regression import regression_scores, regression_statistics

scipy_stats = pytest.importorskip("scipy.stats")


def test_correlations_are_those_of_scipy_ties_included():
    draw = np.random.default_rng(0)
    truth, said = draw.integers(0, 6, 200) / 2, draw.normal(size=200).round(1)
    found = regression_scores(truth, said)
    assert found.pearson == pytest.approx(scipy_stats.pearsonr(truth, said).statistic)
    assert found.spearman == pytest.approx(scipy_stats.spearmanr(truth, said).statistic)
    assert found.mean_squared_error == pytest.approx(np.mean((truth - said) ** 2))
    assert found.mean_absolute_error == pytest.approx(np.mean(np.abs(truth - said)))


def test_only_the_order_counts_for_spearman():
    truth = [1.0, 2.0, 3.0, 4.0]
    assert regression_scores(truth, [1.0, 4.0, 9.0, 16.0]).spearman == pytest.approx(1.0)
    assert regression_scores(truth, [1.0, 4.0, 9.0, 16.0]).pearson < 1.0
    assert regression_scores(truth, [-1.0, -2.0, -3.0, -9.0]).spearman == pytest.approx(-1.0)


def test_a_model_that_always_says_the_same_is_related_to_nothing():
    found = regression_scores([1.0, 2.0, 3.0], [2.0, 2.0, 2.0])
    assert (found.pearson, found.spearman) == (0.0, 0.0)


def test_an_example_that_counts_twice_is_there_twice():
    draw = np.random.default_rng(1)
    truth, said = draw.integers(0, 4, 30).astype(float), draw.integers(0, 4, 30).astype(float)
    counts = draw.integers(0, 3, 30)
    repeated = regression_statistics(np.repeat(truth, counts), np.repeat(said, counts))
    for name, statistic in regression_statistics(truth, said).items():
        assert statistic(counts.astype(float)) == pytest.approx(repeated[name](np.ones(counts.sum())))


def test_the_interval_holds_the_figure_and_shrinks_with_more_examples():
    draw = np.random.default_rng(2)
    widths = []
    for size in (50, 800):
        truth = draw.normal(size=size)
        statistic = regression_statistics(truth, truth + draw.normal(size=size))["pearson"]
        low, high = bootstrap({"pearson": statistic}, size, resamples=200)["pearson"]
        assert low < statistic(np.ones(size)) < high
        widths.append(high - low)
    assert widths[1] < widths[0] / 2


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e30, -7.7])
def test_two_rows_that_never_change_are_related_by_nothing(value):
    """Rounding leaves a spread in them, and the same one in both."""
    for count in (2, 3, 7, 10):
        found = regression_scores([value] * count, [value] * count)
        assert (found.pearson, found.spearman) == (0.0, 0.0)
    once = regression_statistics([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert {once[name](np.array([0.0, 3.0, 0.0])) for name in ("pearson", "spearman")} == {0.0}
