"""Numbers that were said against those that are true: how far off, and whether they rise and fall together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.metrics.bootstrap import Numbers, Statistic


@dataclass(frozen=True)
class NumberScores:
    """Figures over all examples; a correlation with numbers that are all the same counts as none, 0."""

    pearson: float
    """How close the pairs of truth and answer come to a rising line: at most 1."""
    spearman: float
    """How well the order of the answers is the order of the truth: Pearson's correlation of the ranks."""
    mean_squared_error: float
    mean_absolute_error: float


def number_scores(truth: Sequence[float], said: Sequence[float]) -> NumberScores:
    """Return the scores of what was said."""
    right, found = np.asarray(truth, float), np.asarray(said, float)
    figures = {name: statistic(np.ones(len(right))) for name, statistic in number_statistics(right, found).items()}
    return NumberScores(**figures, mean_absolute_error=float(np.abs(right - found).mean()))


def number_statistics(truth: Sequence[float] | Numbers, said: Sequence[float] | Numbers) -> dict[str, Statistic]:
    """Return the figures as functions of how often each example counts."""
    right, found = np.asarray(truth, float), np.asarray(said, float)
    return {
        "pearson": lambda counts: correlation(right, found, counts),
        "spearman": lambda counts: correlation(ranks(right, counts), ranks(found, counts), counts),
        "mean_squared_error": lambda counts: float(counts @ (right - found) ** 2 / counts.sum()),
    }


def correlation(first: Numbers, second: Numbers, counts: Numbers) -> float:
    """Return Pearson's correlation of two rows of numbers of which each pair counts so many times."""
    if any(_is_constant(each[counts > 0]) for each in (first, second)):
        return 0.0  # rounding would leave a spread
    size = counts.sum()
    one, other = first - counts @ first / size, second - counts @ second / size
    spread = np.sqrt((counts @ one**2) * (counts @ other**2))
    return float(counts @ (one * other) / spread) if spread > 0 else 0.0


def _is_constant(values: Numbers) -> bool:
    return not len(values) or bool(values.min() == values.max())


def ranks(values: Numbers, counts: Numbers) -> Numbers:
    """Return the rank of each number, where each stands so many times; equal ones share the mean of their ranks."""
    _, group = np.unique(values, return_inverse=True)
    sizes = np.bincount(group, counts)
    return (np.cumsum(sizes) - (sizes - 1) / 2)[group]
