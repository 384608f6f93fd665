"""Whether two systems differ: paired bootstrap over sentences (Koehn, 2004), two-sided."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from regard.metrics.translation import metric_of, reference_streams
from regard.progress import SILENT, Progress

RESAMPLES = 1000
SEED = 12345
"""The seed sacrebleu takes too."""
LEVEL = 0.05
"""Below this p a difference is called one."""

Numbers = npt.NDArray[np.float64]


class Interval(NamedTuple):
    """Where 95 of 100 resampled values lie."""

    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """One metric of two systems on the same sentences."""

    name: str
    signature: str
    first: float
    first_interval: Interval
    second: float
    second_interval: Interval
    interval: Interval
    """Of the first minus the second."""
    p: float
    """How often chance alone makes a difference at least this large, in either direction."""

    @property
    def value(self) -> float:
        """The first minus the second."""
        return self.first - self.second

    @property
    def is_significant(self) -> bool:
        """Whether chance is an unlikely explanation."""
        return self.p < LEVEL

    @property
    def first_is_better(self) -> bool:
        """Whether the sign of the difference speaks for the first; of TER less is better."""
        return self.value < 0 if self.name == "TER" else self.value > 0


def paired_bootstrap(
    first: Sequence[str],
    second: Sequence[str],
    references: Sequence[Sequence[str]],
    names: Sequence[str] = ("BLEU", "chrF", "TER"),
    resamples: int = RESAMPLES,
    seed: int = SEED,
    progress: Progress = SILENT,
) -> list[Difference]:
    """Return each metric of two lists of hypotheses, and how sure their difference is."""
    streams = reference_streams(references)
    metrics = [metric_of(name) for name in names]
    systems: list[list[Numbers]] = [[], []]
    with progress.bar("compare", len(names) * 2) as bar:
        for statistics, hypotheses in zip(systems, (first, second), strict=True):
            for metric in metrics:
                statistics.append(np.array(metric._extract_corpus_statistics(list(hypotheses), streams), float))
                bar.advance(1)
    draws = list(_draws(len(first), resamples, seed))
    found = []
    for name, metric, one, other in zip(names, metrics, *systems, strict=True):
        ones, others = _values(metric, one, draws), _values(metric, other, draws)
        value, rival = (_value(metric, side.sum(axis=0)) for side in (one, other))
        signature = f"{metric.get_signature()}|bs:{resamples}|seed:{seed}"
        intervals = (_interval(ones), _interval(others), _interval(ones - others))
        p = _p_value(ones - others, value - rival)
        found.append(Difference(name, signature, value, intervals[0], rival, intervals[1], intervals[2], p))
    return found


def _draws(sentences: int, resamples: int, seed: int) -> Iterator[npt.NDArray[np.int64]]:
    """Yield how often each sentence is drawn, once for each resample; both systems share the draws."""
    generator = np.random.default_rng(seed)
    for _ in range(resamples):
        yield np.bincount(generator.integers(sentences, size=sentences), minlength=sentences)


def _values(metric: Any, statistics: Numbers, draws: Sequence[npt.NDArray[np.int64]]) -> Numbers:
    return np.array([_value(metric, counts @ statistics) for counts in draws])


def _value(metric: Any, totals: Numbers) -> float:
    return float(metric._compute_score_from_stats(totals.tolist()).score)


def _interval(values: Numbers) -> Interval:
    low, high = np.percentile(values, [2.5, 97.5]).tolist()
    return Interval(low, high)


def _p_value(differences: Numbers, found: float) -> float:
    """Return how often a difference centred on nothing is at least as large as the one found.

    Both signs count. (sacrebleu and Moses centre absolute differences and count one tail: half as much for clear
    differences, and next to nothing for two systems that say the same.)
    """
    centred = np.abs(differences - differences.mean())
    at_least = int((centred >= abs(found) - 1e-9).sum())
    return (at_least + 1) / (len(differences) + 1)
