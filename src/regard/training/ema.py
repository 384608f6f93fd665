"""Exponential moving average of the weights, which often generalizes better than the weights themselves."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from regard.nn.layers.dtensor import local


class Ema:
    """An exponential moving average of a model's parameters; with a decay of 0, the parameters themselves.

    Of a sharded model it has the part of this process.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.parameters = {name: local(parameter.detach()) for name, parameter in model.named_parameters()}
        self.values = {name: parameter.clone() for name, parameter in self.parameters.items()} if decay else {}

    def reset(self) -> None:
        """Begin the average anew, with the current weights."""
        for name, value in self.values.items():
            value.copy_(self.parameters[name])

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Add the weights after an update; a lower decay in the first updates discounts the initial weights."""
        if self.decay:
            decay = min(self.decay, (1 + step) / (10 + step))
            torch._foreach_lerp_(list(self.values.values()), list(self.parameters.values()), 1 - decay)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Replace the weights by the average while the context is open."""
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
def fill(targets: dict[str, Tensor], values: dict[str, Tensor]) -> None:
    """Copy values into the target tensors of the same names, in place."""
    for name, target in targets.items():
        target.copy_(values[name])
