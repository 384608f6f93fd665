"""An evaluation: the metrics of one model on one set, for every task."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SHOWN_DECODING = ("beam_size", "length_penalty", "iterations", "length_candidates")
"""Decoding settings that are shown beside a score."""


@dataclass(frozen=True)
class Evaluation:
    """One model on one set."""

    name: str
    """The name of the set."""
    metrics: dict[str, Any]
    """All metrics as plain JSON; `scores` lists those that a run is known by, with their signatures."""
    outputs: tuple[str, ...] = field(default=(), repr=False)
    """A line an example: a hypothesis, a label; none where the task has no output per example."""
    decode: dict[str, Any] = field(default_factory=dict)
    """Settings that the outputs depend on."""
    decode_defaults: dict[str, Any] = field(default_factory=dict)
    """The same as the checkpoint has them."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the outputs as plain values."""
        return {"name": self.name} | self.metrics

    def __getitem__(self, key: str) -> Any:
        return metric_value(self.metrics, key)


def metric_value(metrics: Mapping[str, Any], key: str) -> Any:
    """Return a metric by its key, or a score by its lower-case name; None where there is neither."""
    if key in metrics:
        return metrics[key]
    return next((score["value"] for score in metrics.get("scores", ()) if score["name"].lower() == key), None)


def finite(value: Any) -> Any:
    """Return a number, None where it is not finite: JSON has no NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def decoding_words(decode: Mapping[str, Any]) -> str:
    """Return the decoding settings of a score in words."""
    return ", ".join(f"{name.replace('_', ' ')} {decode[name]}" for name in SHOWN_DECODING if name in decode)
