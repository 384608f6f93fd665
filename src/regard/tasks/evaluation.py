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
    """All metrics as plain JSON; `scores` lists the main ones with their signatures."""
    outputs: tuple[str, ...] = field(default=(), repr=False)
    """One output per example, such as a hypothesis or a label; empty where the task has none."""
    decode: dict[str, Any] = field(default_factory=dict)
    """The decoding settings of the outputs."""
    decode_defaults: dict[str, Any] = field(default_factory=dict)
    """The decoding defaults of the checkpoint."""

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
    """Return a value, or None for a number that is not finite: JSON has no NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def decoding_words(decode: Mapping[str, Any]) -> str:
    """Return the decoding settings of a score in words."""
    return ", ".join(f"{name.replace('_', ' ')} {decode[name]}" for name in SHOWN_DECODING if name in decode)
