"""How sure a figure is: the examples are drawn again and again, and the figure computed anew (Efron, 1979)."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

RESAMPLES = 1000
SEED = 12345
"""The seed sacrebleu takes too."""

Numbers = npt.NDArray[np.float64]
Statistic = Callable[[Numbers], float]
"""A figure of examples of which each counts so many times."""


class Interval(NamedTuple):
    """Where 95 of 100 resampled values lie."""

    low: float
    high: float


def draws(examples: int, resamples: int = RESAMPLES, seed: int = SEED) -> Iterator[npt.NDArray[np.int64]]:
    """Yield how often each example is drawn, once for each resample."""
    generator = np.random.default_rng(seed)
    for _ in range(resamples):
        yield np.bincount(generator.integers(examples, size=examples), minlength=examples)


def interval_of(values: Numbers) -> Interval:
    """Return where 95 of 100 values lie."""
    low, high = np.percentile(values, [2.5, 97.5]).tolist()
    return Interval(low, high)


def p_value(differences: Numbers, found: float) -> float:
    """Return how often a difference centerd on nothing is at least as large as the one found.

    Both signs count. (sacrebleu and Moses center absolute differences and count one tail: half as much for clear
    differences, and next to nothing for two systems that say the same.)
    """
    centerd = np.abs(differences - differences.mean())
    at_least = int((centerd >= abs(found) - 1e-9).sum())
    return (at_least + 1) / (len(differences) + 1)


def bootstrap(statistic: Statistic, examples: int, resamples: int = RESAMPLES, seed: int = SEED) -> Interval:
    """Return the interval of a figure over so many examples."""
    return interval_of(np.array([statistic(counts.astype(float)) for counts in draws(examples, resamples, seed)]))
