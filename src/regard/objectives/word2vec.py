"""The objective of word2vec: negative sampling and subsampling (Mikolov et al., 2013).

This is the reference: `nn/kernels/word2vec.py` takes the same steps pair by pair on a CPU,
`training/word2vec/batches.py` in batches on a GPU.
"""

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional as F

from regard.config.settings import Settings


class VectorObjectiveSettings(Settings):
    """Context window, negative sampling and subsampling."""

    window: int = Field(5, ge=1, le=100)
    """Maximum context window in words on each side; each position samples its own size up to it."""
    negatives: int = Field(5, ge=1, le=100)
    """Negative samples for each true pair."""
    smoothing: float = Field(0.75, ge=0, le=2)
    """Exponent of the counts in the noise distribution (1: unigram; 0: uniform)."""
    subsampling: float = Field(1e-3, ge=0)
    """Relative frequency above which occurrences of a word are dropped at random (0: none is dropped)."""


def negative_sampling_loss(logits: Tensor, is_positive: Tensor, counts: Tensor) -> Tensor:
    """Return the sum of binary cross-entropies of logits (B, K); `counts` is False for ignored ones."""
    losses = F.binary_cross_entropy_with_logits(logits, is_positive.to(logits.dtype), reduction="none")
    return (losses * counts).sum()


def noise_bounds(counts: Tensor, smoothing: float) -> Tensor:
    """Return the cumulative noise distribution (V,): counts to the power of `smoothing`, normalized."""
    weights = counts.double() ** smoothing
    bounds = weights.cumsum(0)
    return bounds / bounds[-1]


def draw_negatives(bounds: Tensor, shape: tuple[int, ...], generator: torch.Generator | None = None) -> Tensor:
    """Return words sampled from the distribution with the given cumulative sums."""
    uniforms = torch.rand(shape, device=bounds.device, dtype=bounds.dtype, generator=generator)
    return torch.searchsorted(bounds, uniforms, right=True).clamp(max=len(bounds) - 1)


def kept_shares(counts: Tensor, subsampling: float) -> Tensor:
    """Return the probability (V,) that subsampling keeps a word, by the formula of word2vec's source code."""
    if not subsampling:
        return torch.ones(len(counts), dtype=torch.float64)
    scaled = counts.double() / (subsampling * counts.sum())
    return ((scaled.sqrt() + 1) / scaled).clamp(max=1.0)
