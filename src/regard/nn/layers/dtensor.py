"""Tensors of which each process holds a part (DTensor), whose implementation is loaded where there are any."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional as F
from typing_extensions import TypeIs

if TYPE_CHECKING:
    from torch.distributed.tensor import DTensor


def is_dtensor(tensor: Tensor) -> "TypeIs[DTensor]":
    """Return True for a tensor of which each process holds a part."""
    return hasattr(tensor, "device_mesh")


def is_whole_on_gpu(weight: Tensor) -> bool:
    """Return True for a weight on a GPU that holds all of it: our own kernels and captured steps support no parts."""
    return weight.is_cuda and not is_dtensor(weight)


@torch.no_grad()
def local(tensor: Tensor) -> Tensor:
    """Return the part of a tensor that this process holds, in place; all of it where it is not sharded."""
    part: Tensor = tensor.to_local() if is_dtensor(tensor) else tensor
    return part


def whole(tensor: Tensor) -> Tensor:
    """Return a tensor with the parts of all processes, gathered one dimension of the mesh after the other."""
    if not is_dtensor(tensor):
        return tensor
    from torch.distributed.tensor import Replicate

    placements = list(tensor.placements)
    for dimension, placement in enumerate(placements):
        if not placement.is_replicate():
            placements[dimension] = Replicate()
            tensor = tensor.redistribute(placements=placements)
    gathered: Tensor = tensor.to_local()
    return gathered


def logits_of(hidden: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return logits (..., V) of hidden states (..., D); the weight may be split over processes by its rows."""
    if not is_dtensor(weight):
        return F.linear(hidden, weight.to(hidden.dtype), bias)
    from torch.distributed.tensor import DTensor

    part = F.linear(hidden, local(weight).to(hidden.dtype), None if bias is None else local(bias).to(hidden.dtype))
    shape = torch.Size((*hidden.shape[:-1], weight.size(0)))
    stride = torch.empty(shape, device="meta").stride()
    dimension = [type(weight.placements[0])(hidden.dim() - 1)]  # type: ignore[call-arg]
    return whole(DTensor.from_local(part, weight.device_mesh, dimension, run_check=False, shape=shape, stride=stride))
