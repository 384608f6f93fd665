"""The loss of word vectors: the word that is there against some that are not (Mikolov et al., 2013).

This is the reference: `nn/kernels/word2vec.py` takes the same steps one by one on a CPU,
`training/word2vec/batches.py` many at once on a GPU.
"""

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional as F

from regard.config.settings import Settings


class VectorObjectiveSettings(Settings):
    """What is told from what."""

    window: int = Field(5, ge=1, le=100)
    """Words on each side that are looked at, at most: for each place a number up to this is drawn."""
    negatives: int = Field(5, ge=1, le=100)
    """Words that are not there, drawn for each that is."""
    smoothing: float = Field(0.75, ge=0, le=2)
    """The power of counts by which these are drawn: 1 as often as they occur, 0 all alike."""
    subsampling: float = Field(1e-3, ge=0)
    """Share of all words above which a word is passed over at random, the oftener the more frequent; 0: none is."""


def negative_sampling_loss(logits: Tensor, is_there: Tensor, counts: Tensor) -> Tensor:
    """Return the sum of binary cross-entropies of logits (B, K); `counts` is False for those that do not count."""
    losses = F.binary_cross_entropy_with_logits(logits, is_there.to(logits.dtype), reduction="none")
    return (losses * counts).sum()


def noise_bounds(counts: Tensor, smoothing: float) -> Tensor:
    """Return the cumulative sum (V,) of the smoothed distribution of words, which ends with 1."""
    weights = counts.double() ** smoothing
    bounds = weights.cumsum(0)
    return bounds / bounds[-1]


def draw_negatives(bounds: Tensor, shape: tuple[int, ...], generator: torch.Generator | None = None) -> Tensor:
    """Return words drawn by the distribution whose cumulative sum is given."""
    places = torch.rand(shape, device=bounds.device, dtype=bounds.dtype, generator=generator)
    return torch.searchsorted(bounds, places, right=True).clamp(max=len(bounds) - 1)


def kept_shares(counts: Tensor, subsampling: float) -> Tensor:
    """Return the chance (V,) with which each word is not passed over, as word2vec's program has it."""
    if not subsampling:
        return torch.ones(len(counts), dtype=torch.float64)
    scaled = counts.double() / (subsampling * counts.sum())
    return ((scaled.sqrt() + 1) / scaled).clamp(max=1.0)
