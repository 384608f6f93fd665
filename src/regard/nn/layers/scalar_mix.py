"""Scalar mix: a learned weighted sum of layers (Peters et al., 2018, §3.2)."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class ScalarMix(nn.Module):
    """γ Σ_k s_k h_k with layer weights s = softmax(w) and a scale γ."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(()))

    @property
    def shares(self) -> Tensor:
        """The weights s of the layers (L,), which add up to 1."""
        return self.weights.softmax(0)

    def forward(self, layers: Sequence[Tensor]) -> Tensor:
        """Return the mix (..., D) of layers (..., D)."""
        mixed = torch.zeros_like(layers[0])
        for weight, layer in zip(self.shares, layers, strict=True):
            mixed = mixed + weight * layer
        return self.scale * mixed
