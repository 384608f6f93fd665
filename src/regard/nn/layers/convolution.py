"""Gated convolutions with GLU over text (Dauphin et al., 2017)."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.nn.layers.linear import Linear


class GatedConvolution(nn.Module):
    """a ∘ σ(b) of each window of `kernel` positions, where [a; b] = W [x_1; ...; x_kernel] + bias.

    One product over unfolded windows: a decoding step is the same product for one window.
    """

    def __init__(self, width: int, kernel: int, dropout: float) -> None:
        super().__init__()
        self.kernel = kernel
        self.windows = Linear(kernel * width, 2 * width)
        # Initialization that preserves the variance through gate and dropout (Gehring et al., 2017, appendix A).
        nn.init.normal_(self.windows.weight, std=math.sqrt(4 * (1 - dropout) / (kernel * width)))
        nn.init.zeros_(self.windows.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, T, D) for the T windows in x (B, T + kernel - 1, D)."""
        T = x.size(1) - self.kernel + 1
        windows = torch.cat([x[:, start : start + T] for start in range(self.kernel)], -1)  # (B, T, kernel * D)
        return F.glu(self.windows(windows), -1)
