"""Dropout with a fast random generator on CPUs: 15 random bits per element."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

LEVELS = 2**15
"""Levels of probability: 15 random bits per element."""


class Dropout(nn.Module):
    """Zeroes elements at random while training and scales up the others (Srivastava et al., 2014)."""

    def __init__(self, probability: float) -> None:
        super().__init__()
        self.probability = probability

    def forward(self, x: Tensor) -> Tensor:
        """Return x with a fraction of its elements zeroed, or x itself outside training."""
        if not self.training or self.probability == 0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.probability)
        return x * keep_mask(x, self.probability)


def keep_mask(x: Tensor, probability: float) -> Tensor:
    """Return a mask like x: 0 with the given probability (to 1/32768), elsewhere a constant that keeps the mean.

    On a CPU, torch generates a 64-bit number for each element; here four elements share one.
    """
    words = torch.empty((x.numel() + 3) // 4, dtype=torch.int64).random_()  # 63 random bits each
    samples = words.view(torch.int16)[: x.numel()].view_as(x) & (LEVELS - 1)
    threshold = round(probability * LEVELS)
    return (samples >= threshold).to(x.dtype).mul_(LEVELS / (LEVELS - threshold))
