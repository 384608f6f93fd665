"""Significance tests: paired bootstrap over sentences (Koehn, 2004), two-sided."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.metrics.bootstrap import RESAMPLES, SEED, Interval, Numbers, Statistic, draws, interval_of, p_value
from regard.metrics.translation import metric_of, reference_streams
from regard.progress import SILENT, Progress

LEVEL = 0.05
"""Significance level: the p-value below which a difference is significant."""


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
    """95% interval of the first minus the second."""
    p: float
    """Two-sided p-value of the difference."""

    @property
    def value(self) -> float:
        """The first minus the second."""
        return self.first - self.second

    @property
    def is_significant(self) -> bool:
        """True if the p-value is below the level and the interval excludes 0; on few examples the two differ."""
        low, high = self.interval
        return self.p < LEVEL and not low <= 0 <= high

    @property
    def first_is_better(self) -> bool:
        """True if the difference favors the first system; lower TER is better."""
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
    """Return each metric of two lists of hypotheses, with intervals and the p-value of their difference."""
    size = (resamples, seed)
    streams = reference_streams(references)
    metrics = [metric_of(name) for name in names]
    systems: list[list[Numbers]] = [[], []]
    with progress.bar("compare", len(names) * 2) as bar:
        for statistics, hypotheses in zip(systems, (first, second), strict=True):
            for metric in metrics:
                statistics.append(np.array(metric._extract_corpus_statistics(list(hypotheses), streams), float))
                bar.advance(1)
    return [
        paired(
            name, str(metric.get_signature()), _statistic(metric, one), _statistic(metric, other), len(first), size
        )
        for name, metric, one, other in zip(names, metrics, *systems, strict=True)
    ]


def paired(
    name: str,
    signature: str,
    first: Statistic,
    second: Statistic,
    examples: int,
    size: tuple[int, int] = (RESAMPLES, SEED),
) -> Difference:
    """Return the difference of two systems on the same resamples; `size` is (resamples, seed)."""
    pairs = [(first(counts), second(counts)) for counts in (each.astype(float) for each in draws(examples, *size))]
    ones, others = np.array(pairs, float).T
    everything = np.ones(examples)
    value, other_value = first(everything), second(everything)
    return Difference(
        name,
        f"{signature}|bs:{size[0]}|seed:{size[1]}",
        value,
        interval_of(ones),
        other_value,
        interval_of(others),
        interval_of(ones - others),
        p_value(ones - others, value - other_value),
    )


def _statistic(metric: Any, statistics: Numbers) -> Statistic:
    return lambda counts: float(metric._compute_score_from_stats((counts @ statistics).tolist()).score)
