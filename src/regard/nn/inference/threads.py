"""Thread count of CPU inference: small products run faster on one thread."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

WORTH_SHARING = 2**23
"""Multiplications of an average product below which waking a second thread takes longer than it saves."""


@contextmanager
def threads_for(model: nn.Module, rows: int) -> Iterator[None]:
    """Use one thread within a `with` block if a CPU model's products of `rows` rows are small."""
    before = torch.get_num_threads()
    if before == 1 or not _is_small(model, rows):
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _is_small(model: nn.Module, rows: int) -> bool:
    if next(model.parameters()).device.type != "cpu":
        return False
    matrices = [parameter.numel() for parameter in model.parameters() if parameter.dim() == 2]
    return bool(matrices) and rows * sum(matrices) / len(matrices) < WORTH_SHARING
