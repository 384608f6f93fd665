"""A moving average of the weights, which often translates better than the weights themselves."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class Ema:
    """An exponential moving average of a model's parameters; with a decay of 0, the parameters themselves."""

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}
        self.values = {name: parameter.clone() for name, parameter in self.parameters.items()} if decay else {}

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take in the weights after an update; the first ones count for more, so that the start is soon forgotten."""
        if self.decay:
            decay = min(self.decay, (1 + step) / (10 + step))
            torch._foreach_lerp_(list(self.values.values()), list(self.parameters.values()), 1 - decay)

    @contextmanager
    def standing_in(self) -> Iterator[None]:
        """Put the average in the place of the weights for the length of a block."""
        if not self.decay:
            yield
            return
        weights = {name: parameter.clone() for name, parameter in self.parameters.items()}
        fill(self.parameters, self.values)
        try:
            yield
        finally:
            fill(self.parameters, weights)


@torch.no_grad()
def fill(places: dict[str, Tensor], values: dict[str, Tensor]) -> None:
    """Copy tensors into others of the same names."""
    for name, place in places.items():
        place.copy_(values[name])


def copies(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return copies in the memory of the host."""
    return {name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in tensors.items()}
