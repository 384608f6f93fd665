"""Bootstrap confidence intervals: a metric is recomputed on resampled examples (Efron, 1979)."""

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from regard.metrics.comparison import Interval

RESAMPLES = 1000
SEED = 12345
"""The default seed of sacrebleu."""

Numbers = npt.NDArray[np.float64]
Statistic = Callable[[Numbers], float]
"""A metric as a function of how often each example counts (N,)."""


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


def bootstrap(
    statistics: Mapping[str, Statistic], examples: int, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[str, Interval]:
    """Return the 95% confidence intervals of metrics over `examples` examples, all on the same resamples.

    Resamples in which a metric is undefined are left out; a metric that is defined in none has no interval.
    """
    if not examples or not statistics:
        return {}
    rows = [
        [each(counts) for each in statistics.values()]
        for counts in (drawn.astype(float) for drawn in draws(examples, resamples, seed))
    ]
    columns = zip(statistics, np.array(rows, float).T, strict=True)
    return {name: interval_of(values[np.isfinite(values)]) for name, values in columns if np.isfinite(values).any()}


def ratio(above: Numbers, below: Numbers, scale: float = 1.0) -> Statistic:
    """Return the ratio of two sums over examples, such as the mean loss of tokens; not a number where it is x / 0."""
    above, below = np.asarray(above, float), np.asarray(below, float)

    def value(counts: Numbers) -> float:
        total = float(counts @ below)
        return scale * float(counts @ above) / total if total else float("nan")

    return value


def exponential(loss: Statistic) -> Statistic:
    """Return the exponential of a metric: the perplexity of a loss."""
    return lambda counts: math.exp(min(loss(counts), 700.0))
