"""The objective of word2vec: negative sampling and subsampling (Mikolov et al., 2013).

This is the reference: `nn/kernels/word2vec.py` takes the same steps pair by pair on a CPU,
`training/word2vec/batches.py` in batches on a GPU.
"""

import torch
from torch import Tensor
from torch.nn import functional as F


def negative_sampling_loss(logits: Tensor, is_positive: Tensor, counts: Tensor) -> Tensor:
    """Return the sum of binary cross-entropies of logits (B, K); `counts` is False for ignored ones."""
    losses = F.binary_cross_entropy_with_logits(logits, is_positive.to(logits.dtype), reduction="none")
    return (losses * counts).sum()


def noise_bounds(counts: Tensor, smoothing: float) -> Tensor:
    """Return the cumulative noise distribution (V,): counts to the power of `smoothing`, normalized."""
    weights = counts.double() ** smoothing
    bounds = weights.cumsum(0)
    return bounds / bounds[-1]


def sample_negatives(bounds: Tensor, shape: tuple[int, ...], generator: torch.Generator | None = None) -> Tensor:
    """Return words sampled from the distribution with the given cumulative sums."""
    uniforms = torch.rand(shape, device=bounds.device, dtype=bounds.dtype, generator=generator)
    return torch.searchsorted(bounds, uniforms, right=True).clamp(max=len(bounds) - 1)


def keep_probabilities(counts: Tensor, subsampling: float) -> Tensor:
    """Return the probability (V,) that subsampling keeps a word, by the formula of word2vec's source code."""
    if not subsampling:
        return torch.ones(len(counts), dtype=torch.float64)
    scaled = counts.double() / (subsampling * counts.sum())
    return ((scaled.sqrt() + 1) / scaled).clamp(max=1.0)
