"""Regression metrics: errors and correlations of predicted and true numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.metrics.bootstrap import Numbers, Statistic


@dataclass(frozen=True)
class RegressionScores:
    """Metrics over all examples; a correlation with constant numbers is 0."""

    pearson: float
    """Pearson correlation of predicted and true numbers, between -1 and 1."""
    spearman: float
    """Spearman rank correlation, between -1 and 1."""
    mean_squared_error: float
    mean_absolute_error: float


def regression_scores(truth: Sequence[float], predicted: Sequence[float]) -> RegressionScores:
    """Return the metrics of predicted numbers."""
    true, outputs = np.asarray(truth, float), np.asarray(predicted, float)
    statistics = regression_statistics(true, outputs)
    return RegressionScores(**{name: statistic(np.ones(len(true))) for name, statistic in statistics.items()})


def regression_statistics(
    truth: Sequence[float] | Numbers, predicted: Sequence[float] | Numbers
) -> dict[str, Statistic]:
    """Return the metrics as functions of how often each example counts."""
    true, outputs = np.asarray(truth, float), np.asarray(predicted, float)
    return {
        "pearson": lambda counts: correlation(true, outputs, counts),
        "spearman": lambda counts: correlation(ranks(true, counts), ranks(outputs, counts), counts),
        "mean_squared_error": lambda counts: float(counts @ (true - outputs) ** 2 / counts.sum()),
        "mean_absolute_error": lambda counts: float(counts @ np.abs(true - outputs) / counts.sum()),
    }


def correlation(first: Numbers, second: Numbers, counts: Numbers) -> float:
    """Return the Pearson correlation of two arrays (N,) whose pairs count `counts` (N,) times."""
    if any(_is_constant(each[counts > 0]) for each in (first, second)):
        return 0.0  # rounding would leave a variance
    size = counts.sum()
    one, other = first - counts @ first / size, second - counts @ second / size
    scale = np.sqrt((counts @ one**2) * (counts @ other**2))
    return float(counts @ (one * other) / scale) if scale > 0 else 0.0


def _is_constant(values: Numbers) -> bool:
    return not len(values) or bool(values.min() == values.max())


def ranks(values: Numbers, counts: Numbers) -> Numbers:
    """Return the rank of each number (N,), counted `counts` (N,) times; ties get their mean rank."""
    _, group = np.unique(values, return_inverse=True)
    sizes = np.bincount(group, counts)
    return (np.cumsum(sizes) - (sizes - 1) / 2)[group]
