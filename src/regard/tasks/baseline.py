"""Validation metrics of the best constant prediction: a model at this level has learned nothing."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

MOST = 200_000
"""Tokens that are counted."""


def token_baseline(ids: NDArray[np.integer], name: str = "loss") -> dict[str, float]:
    """Return the loss in nats of predicting each token with its frequency in the text."""
    counts = np.bincount(ids[:MOST])
    return {name: entropy(counts)} if np.count_nonzero(counts) > 1 else {}


def label_baseline(counts: Mapping[str, int]) -> dict[str, float]:
    """Return the accuracy of always predicting the most frequent label, and the loss of predicting frequencies.

    Nothing is better than a constant where there is only one label.
    """
    total = sum(counts.values())
    if len(counts) < 2:
        return {}
    return {"accuracy": max(counts.values()) / total, "loss": entropy(np.array(list(counts.values())))}


def entropy(counts: NDArray[np.integer]) -> float:
    """Return the entropy in nats of a distribution given by counts."""
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())
