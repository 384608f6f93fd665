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


def moves_into_gaps(rows: Tensor, count: int) -> tuple[Tensor, Tensor] | None:
    """Return the indices whose rows change where some of `count` rows stay, and the rows that move there.

    None: the rows are to be copied, since others than the last would have to move. A CUDA device always copies, which
    takes less time than a synchronization with the host.
    """
    if rows.is_cuda or rows.numel() > count:
        return None
    changed = (rows != torch.arange(rows.numel(), device=rows.device)).nonzero()[:, 0]
    moving = rows[changed]
    return (changed, moving) if bool((moving >= rows.numel()).all()) else None
