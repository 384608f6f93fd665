"""Joining of batches: rows of two tensors one after the other, the narrower padded."""

import torch
from torch import Tensor
from torch.nn import functional as F


def joined(first: Tensor, second: Tensor, dim: int = 1, value: float = 0, is_left: bool = False) -> Tensor:
    """Return the rows of both tensors; the one that is shorter in a dimension is padded there with a value."""
    size = max(first.size(dim), second.size(dim))
    parts = []
    for each in (first, second):
        lacking = size - each.size(dim)
        padding = [0, 0] * (each.dim() - 1 - dim) + ([lacking, 0] if is_left else [0, lacking])
        parts.append(F.pad(each, padding, value=value) if lacking else each)
    return torch.cat(parts)
