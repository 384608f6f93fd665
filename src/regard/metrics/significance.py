"""Whether two systems differ: paired bootstrap over sentences (Koehn, 2004), two-sided."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.metrics.bootstrap import RESAMPLES, SEED, Interval, Numbers, Statistic, draws, interval_of, p_value
from regard.metrics.translation import metric_of, reference_streams
from regard.progress import SILENT, Progress

LEVEL = 0.05
"""Below this p a difference is called one."""


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
        """Whether chance is an unlikely explanation: both tests must say so, which differ on few examples."""
        low, high = self.interval
        return self.p < LEVEL and not low <= 0 <= high

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
    """Return a figure of two systems on the same examples, both of which share the draws; `size` holds the seed."""
    pairs = [(first(counts), second(counts)) for counts in (each.astype(float) for each in draws(examples, *size))]
    ones, others = np.array(pairs, float).T
    everything = np.ones(examples)
    value, rival = first(everything), second(everything)
    return Difference(
        name,
        f"{signature}|bs:{size[0]}|seed:{size[1]}",
        value,
        interval_of(ones),
        rival,
        interval_of(others),
        interval_of(ones - others),
        p_value(ones - others, value - rival),
    )


def _statistic(metric: Any, statistics: Numbers) -> Statistic:
    return lambda counts: float(metric._compute_score_from_stats((counts @ statistics).tolist()).score)
