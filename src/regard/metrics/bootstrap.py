"""Bootstrap confidence intervals: a metric is recomputed on resampled examples (Efron, 1979)."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

RESAMPLES = 1000
SEED = 12345
"""The default seed of sacrebleu."""

Numbers = npt.NDArray[np.float64]
Statistic = Callable[[Numbers], float]
"""A metric as a function of how often each example counts (N,)."""


class Interval(NamedTuple):
    """A 95% confidence interval."""

    low: float
    high: float


def draws(examples: int, resamples: int = RESAMPLES, seed: int = SEED) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the count of each example (N,) in each resample."""
    generator = np.random.default_rng(seed)
    for _ in range(resamples):
        yield np.bincount(generator.integers(examples, size=examples), minlength=examples)


def interval_of(values: Numbers) -> Interval:
    """Return the central 95% interval of values."""
    low, high = np.percentile(values, [2.5, 97.5]).tolist()
    return Interval(low, high)


def p_value(differences: Numbers, observed: float) -> float:
    """Return the two-sided p-value: how often a centered difference is at least as large as the observed one.

    (sacrebleu and Moses center absolute differences and count one tail: half as much for clear differences, and
    almost 0 for two systems with the same outputs.)
    """
    centered = np.abs(differences - differences.mean())
    at_least = int((centered >= abs(observed) - 1e-9).sum())
    return (at_least + 1) / (len(differences) + 1)


def bootstrap(statistic: Statistic, examples: int, resamples: int = RESAMPLES, seed: int = SEED) -> Interval:
    """Return the 95% confidence interval of a metric over `examples` examples."""
    return interval_of(np.array([statistic(counts.astype(float)) for counts in draws(examples, resamples, seed)]))
