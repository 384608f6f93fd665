"""Optimizers by name, and their state as tensors by parameter name."""

from typing import Any

import torch
from torch import Tensor, nn

from regard.nn.layers.dtensor import local
from regard.training.parallel.shard import like
from regard.training.settings import TrainSettings


def build_optimizer(model: nn.Module, settings: TrainSettings) -> torch.optim.Optimizer:
    """Return the optimizer of the settings; vectors (biases, norms) have no weight decay."""
    matrices = [parameter for parameter in model.parameters() if parameter.dim() > 1]
    vectors = [parameter for parameter in model.parameters() if parameter.dim() <= 1]
    groups: list[dict[str, Any]] = [
        {"params": matrices, "weight_decay": settings.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    rate = settings.peak_rate
    if settings.optimizer == "sgd":
        return torch.optim.SGD(groups, rate, momentum=settings.momentum, fused=True)
    kind = torch.optim.Adam if settings.optimizer == "adam" else torch.optim.AdamW
    return kind(groups, rate, betas=settings.betas, eps=settings.epsilon, fused=True)


def optimizer_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the optimizer's state as tensors named `parameter/entry`; of sharded ones, the part of this process."""
    return {
        f"{name}/{entry}": local(value.detach()).cpu().contiguous()
        for name, parameter in model.named_parameters()
        for entry, value in optimizer.state.get(parameter, {}).items()
        if isinstance(value, Tensor)
    }


def restore_optimizer(model: nn.Module, optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    """Replace the optimizer's state by a saved one."""
    optimizer.state.clear()
    parameters = dict(model.named_parameters())
    for key, value in tensors.items():
        name, _, entry = key.rpartition("/")
        parameter = parameters[name]
        # A fused optimizer keeps its step count on the parameter's device, in fp32 for any dtype.
        value = value.to(parameter.device, torch.float32 if entry == "step" else parameter.dtype)
        value = value.clone()
        optimizer.state[parameter][entry] = value if entry == "step" else like(value, parameter)
