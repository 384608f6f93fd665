"""Gated convolutions over text (Dauphin et al., 2017)."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.nn.layers.linear import Linear


class GatedConvolution(nn.Module):
    """a ∘ σ(b) of each window of `kernel` positions, where [a; b] = W [x_1; ...; x_kernel] + bias.

    One product over windows laid side by side: a step of decoding is the same product for one window.
    """

    def __init__(self, width: int, kernel: int, dropout: float) -> None:
        super().__init__()
        self.kernel = kernel
        self.windows = Linear(kernel * width, 2 * width)
        # The variance of the input outlives gate and dropout (Gehring et al., 2017, appendix A).
        nn.init.normal_(self.windows.weight, std=math.sqrt(4 * (1 - dropout) / (kernel * width)))
        nn.init.zeros_(self.windows.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, T, D) for the T windows in x (B, T + kernel - 1, D)."""
        T = x.size(1) - self.kernel + 1
        side_by_side = torch.cat([x[:, place : place + T] for place in range(self.kernel)], -1)  # (B, T, kernel * D)
        return F.glu(self.windows(side_by_side), -1)
