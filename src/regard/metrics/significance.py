"""Significance tests: paired bootstrap over examples (Koehn, 2004), two-sided."""

from collections.abc import Mapping, Sequence

import numpy as np

from regard.metrics.bootstrap import RESAMPLES, SEED, Statistic, draws, interval_of, p_value
from regard.metrics.comparison import ComparedMetric, Difference


def paired_bootstrap(
    metrics: Sequence[ComparedMetric],
    first: Mapping[str, Statistic],
    second: Mapping[str, Statistic],
    examples: int,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[Difference, ...]:
    """Return the differences of two systems on the same resamples of the same examples, a metric each."""
    pairs = [(first[metric.key], second[metric.key]) for metric in metrics]
    rows = [
        [each(counts) for pair in pairs for each in pair]
        for counts in (drawn.astype(float) for drawn in draws(examples, resamples, seed))
    ]
    columns = np.array(rows, float).reshape(resamples, len(metrics), 2)
    everything, differences = np.ones(examples), []
    for number, (metric, (one, other)) in enumerate(zip(metrics, pairs, strict=True)):
        values = columns[:, number]
        ones, others = values[np.isfinite(values).all(1)].T  # undefined in a resample without any of its examples
        value, other_value = one(everything), other(everything)
        if not len(ones) or not np.isfinite([value, other_value]).all():
            continue
        intervals = [interval_of(each) for each in (ones, others, ones - others)]
        p = p_value(ones - others, value - other_value)
        differences.append(Difference(metric, value, intervals[0], other_value, intervals[1], intervals[2], p))
    return tuple(differences)
