"""An evaluation: one model on one set, for every task."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.metrics.comparison import Comparison, Interval, Score
from regard.tasks.declarations import Metric, ScoreTable

if TYPE_CHECKING:
    from regard.metrics.bootstrap import Statistic

Values = Mapping[str, Any]
"""Plain values by key, as JSON has them."""
SHOWN_DECODING = ("beam_size", "length_penalty", "iterations", "length_candidates")
"""Decoding settings that are shown beside a score."""


@dataclass(frozen=True)
class Evaluation:
    """One model on one set."""

    name: str
    """The name of the set."""
    metrics: Values
    """Numbers by the key of their metric, and counts; None: undefined on this set."""
    scores: tuple[Score, ...] = ()
    """The main metrics with their signatures; the first one ranks models."""
    outputs: tuple[str, ...] = field(default=(), repr=False)
    """A line an example: hypothesis, label, predicted word, or the sums of negative log-likelihoods of a text."""
    statistics: Mapping[str, "Statistic"] = field(default_factory=dict, repr=False)
    """Metrics as functions of how often each output counts: what intervals and paired tests are computed from."""
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    """95% confidence intervals of metrics, by bootstrap over the outputs."""
    hashes: Values = field(default_factory=dict, repr=False)
    """The hashes that identify the set: `sources`, and a list of `references`."""
    details: Values = field(default_factory=dict, repr=False)
    """All but numbers: metrics by label, confident errors, rules."""
    decode: Values = field(default_factory=dict)
    """The settings besides the model that the outputs depend on."""
    decode_defaults: Values = field(default_factory=dict, repr=False)
    """Their values in the checkpoint."""
    task: str = ""
    """The name of the task."""
    files: tuple[Path, ...] = ()
    """Its score passports."""
    comparison: Comparison | None = None
    """The paired test against another system."""

    @property
    def count(self) -> int:
        """The number of examples scored."""
        return len(self.outputs)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the outputs as plain values."""
        values = (
            {"name": self.name} | {key: finite(value) for key, value in self.metrics.items()} | dict(self.details)
        )
        values |= {
            "scores": [asdict(score) for score in self.scores],
            "intervals": {key: list(interval) for key, interval in self.intervals.items()},
            "decode": dict(self.decode),
            "test_set": dict(self.hashes),
        }
        values |= {"files": [str(file) for file in self.files]} if self.files else {}
        return values | ({"against": self.comparison.to_dict()} if self.comparison else {})

    def __getitem__(self, key: str) -> Any:
        return self.metrics[key]


def finite(value: Any) -> Any:
    """Return a value, or None for a number that is not finite: JSON has no NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def decoding_words(decode: Values) -> str:
    """Return the decoding settings of a score in words."""
    return ", ".join(f"{name.replace('_', ' ')} {decode[name]}" for name in SHOWN_DECODING if name in decode)


def score_table(counted: tuple[str, str], metrics: Sequence[Metric], sets: Mapping[str, Values]) -> ScoreTable:
    """Return a table with a row for each set: its size, the loss, and every metric that any of them has."""
    key, label = counted
    loss = () if any(metric.label == "loss" for metric in metrics) else (Metric("loss", "loss"),)
    shown = [each for each in (*loss, *metrics) if any(values.get(each.key) is not None for values in sets.values())]
    rows = [
        (name, f"{values.get(key) or 0:,}", *(each.cell(values) for each in shown)) for name, values in sets.items()
    ]
    return ScoreTable("", ("set", label, *(each.label for each in shown)), rows)
