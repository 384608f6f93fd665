"""Counter-based random numbers: a pure function of key and counter, so any of them is computed without the others."""

import numpy as np
from numpy.typing import NDArray

from regard.data.shuffle import mixed

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""The increment of splitmix64 (Steele et al., 2014)."""

Keys = NDArray[np.uint64]


def key_of(*parts: int) -> np.uint64:
    """Return a key derived from all parts; trailing zeros do not count, as `SeedSequence` pads with them."""
    return np.random.SeedSequence(parts).generate_state(1, np.uint64)[0]


def keys_at(keys: Keys | np.uint64, counters: NDArray[np.int64] | int) -> Keys:
    """Return derived keys, one for each counter."""
    with np.errstate(over="ignore"):
        return mixed(np.asarray(keys) + (np.asarray(counters).astype(np.uint64) + np.uint64(1)) * GOLDEN)


def uniform(keys: Keys) -> NDArray[np.float64]:
    """Return uniform numbers in [0, 1), one for each key."""
    return (keys >> np.uint64(11)).astype(np.float64) * 2.0**-53


def ragged(begins: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the ranges begin … begin + size - 1, concatenated."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(begins - (ends - sizes), sizes) + np.arange(total)
