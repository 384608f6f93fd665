"""Low-rank updates of frozen weights (LoRA: Hu et al., 2021)."""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

PART, ORIGINAL = ".parametrizations.weight.", ".parametrizations.weight.original"
"""Parts of the names of a weight with an update, and of the frozen weight."""


class LowRankUpdate(nn.Module):
    """A weight plus the product of two narrow matrices, 0 at first."""

    def __init__(self, outputs: int, inputs: int, rank: int, scale: float) -> None:
        super().__init__()
        self.scale = scale
        self.down = nn.Parameter(torch.empty(rank, inputs))
        self.up = nn.Parameter(torch.zeros(outputs, rank))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, weight: Tensor) -> Tensor:
        """Return W + s B A, in the precision of the weights."""
        with torch.autocast(weight.device.type, enabled=False):
            return torch.addmm(weight, self.up, self.down, alpha=self.scale)


def add_update(layer: nn.Linear, rank: int, alpha: float) -> None:
    """Give a linear layer a trained update of its weight, scaled by alpha / rank."""
    outputs, inputs = layer.weight.shape
    update = LowRankUpdate(outputs, inputs, min(rank, outputs, inputs), alpha / rank).to(layer.weight)
    parametrize.register_parametrization(layer, "weight", update)


def merged(model: nn.Module, name: str) -> tuple[str, Tensor] | None:
    """Return name and value of a weight with its update, given the name of the frozen one; None for other names."""
    if not name.endswith(ORIGINAL):
        return None
    weight: Any = model.get_submodule(name.removesuffix(ORIGINAL)).weight
    return f"{name.removesuffix(ORIGINAL)}.weight", weight.detach()


def is_adapted(model: nn.Module) -> bool:
    """Return True if any weight of a model has an update."""
    return any(isinstance(module, LowRankUpdate) for module in model.modules())
