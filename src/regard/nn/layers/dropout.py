"""Dropout that does not hold up the CPU."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

LEVELS = 2**15
"""Steps of probability: 15 random bits an element."""


class Dropout(nn.Module):
    """Zeroes a share of the elements while training and scales the rest up (Srivastava et al., 2014)."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability

    def forward(self, x: Tensor) -> Tensor:
        """Return x with a share of its elements zeroed, or x itself outside training."""
        if not self.training or self.probability == 0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.probability)
        return x * keep_mask(x, self.probability)


def keep_mask(x: Tensor, probability: float) -> Tensor:
    """Return 0 with the given probability (to 1/32768) and a constant that keeps the mean elsewhere.

    torch draws a 64-bit number for each element on the CPU; four elements share one here.
    """
    words = torch.empty((x.numel() + 3) // 4, dtype=torch.int64).random_()  # 63 random bits each
    draws = words.view(torch.int16)[: x.numel()].view_as(x) & (LEVELS - 1)
    threshold = round(probability * LEVELS)
    return (draws >= threshold).to(x.dtype).mul_(LEVELS / (LEVELS - threshold))
