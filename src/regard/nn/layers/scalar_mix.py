"""Several layers in one: a sum with learned weights (Peters et al., 2018, §3.2)."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class ScalarMix(nn.Module):
    """γ Σ_k s_k h_k with s = softmax(w): how much each layer counts, and how much all of them."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(layers))
        self.scale = nn.Parameter(torch.ones(()))

    @property
    def shares(self) -> Tensor:
        """How much each layer counts (L,): all together 1."""
        return self.weights.softmax(0)

    def forward(self, layers: Sequence[Tensor]) -> Tensor:
        """Return one of the same shape for the layers (..., D)."""
        mixed = torch.zeros_like(layers[0])
        for share, layer in zip(self.shares, layers, strict=True):
            mixed = mixed + share * layer
        return self.scale * mixed
