"""Counter-based random numbers: a uniform is a pure function of seed, row, sample and step, without RNG state."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.shuffle import mixed

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def counter_uniforms(
    seeds: int | NDArray[np.int64],
    lines: NDArray[np.int64],
    samples: NDArray[np.int64],
    steps: int | NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return a uniform in [0, 1) for each (line, sample), with one seed and step, or one for each."""
    state = np.full(lines.shape, seeds, np.uint64)
    for part in (lines, samples, np.full(lines.shape, steps)):
        state = mixed(state + GOLDEN * (part.astype(np.uint64) + np.uint64(1)))
    return (state >> np.uint64(11)).astype(np.float64) * 2.0**-53


def sample_tokens(log_p: Tensor, uniforms: Tensor) -> Tensor:
    """Return a token a row (R,) sampled from log probabilities (R, V): inverse CDF at uniforms (R,) in [0, 1)."""
    sums = log_p.softmax(1).double().cumsum(1)
    return torch.searchsorted(sums, uniforms[:, None] * sums[:, -1:], right=True)[:, 0]
