"""Sharding: each process holds a part of weights, gradients and optimizer, gathered block by block (FSDP2).

What implements it takes two seconds to load, so it is loaded by those alone who shard.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from typing_extensions import TypeIs

from regard.checkpoint.background import host_copies
from regard.nn.blocks import DecoderBlock, EncoderBlock
from regard.training.parallel.replicate import LossModule

if TYPE_CHECKING:
    from torch.distributed.fsdp import FSDPModule
    from torch.distributed.tensor import DTensor


def shard(module: LossModule, device: torch.device, processes: int) -> list["FSDPModule"]:
    """Shard a module, and return its units, of which the first is the module itself.

    Each block of a Transformer is a unit; the rest, such as embeddings and whole recurrent models, is in the first.
    Gradients are added, not averaged: counts have scaled them.
    """
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh(device.type, (processes,))
    blocks = [each for each in module.model.modules() if isinstance(each, EncoderBlock | DecoderBlock)]
    units = [fully_shard(each, mesh=mesh) for each in (*blocks, module)]
    for unit in units:
        unit.set_gradient_divide_factor(1.0)
        unit.set_force_sum_reduction_for_comms(True)  # gloo knows no other
    return units[::-1]


@contextmanager
def gathered(units: list["FSDPModule"]) -> Iterator[None]:
    """Hold the whole model in each process while the context is open: each may call it any number of times."""
    _, *blocks = units
    for unit in blocks:
        unit.set_reshard_after_forward(False, recurse=False)
    for unit in units:
        unit.unshard()
    try:
        yield
    finally:
        for unit in blocks:
            unit.set_reshard_after_forward(True, recurse=False)
        for unit in units:
            unit.reshard()


def is_dtensor(tensor: Tensor) -> "TypeIs[DTensor]":
    """Return True for a tensor of which each process holds a part."""
    return hasattr(tensor, "device_mesh")


@torch.no_grad()
def local(tensor: Tensor) -> Tensor:
    """Return the part of a tensor that this process holds, in place; all of it where it is not sharded."""
    part: Tensor = tensor.to_local() if is_dtensor(tensor) else tensor
    return part


@torch.no_grad()
def part_of(whole: Tensor, parameter: Tensor) -> Tensor:
    """Return the part of a whole tensor that this process holds of a parameter of the same shape."""
    if not is_dtensor(parameter):
        return whole
    from torch.distributed.tensor import distribute_tensor

    mesh, placements = parameter.device_mesh, parameter.placements
    return local(distribute_tensor(whole.to(mesh.device_type), mesh, placements, src_data_rank=None))


def like(part: Tensor, parameter: Tensor) -> Tensor:
    """Return the tensor over all processes of which this one holds a part, sharded as a parameter is."""
    if not is_dtensor(parameter):
        return part
    from torch.distributed.tensor import DTensor

    return DTensor.from_local(
        part,
        parameter.device_mesh,
        parameter.placements,
        run_check=False,
        shape=parameter.shape,
        stride=parameter.stride(),
    )


def host_parts(model: nn.Module) -> dict[str, Tensor]:
    """Return copies of weights and persistent buffers, once each; this process holds its parts in host memory."""
    tensors, seen = dict[str, Tensor](), set[int]()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            tensors[name] = tensor
    parts = host_copies({name: local(tensor.detach()) for name, tensor in tensors.items()})
    return {name: like(part, tensors[name]) for name, part in parts.items()}


def is_sharded(model: nn.Module) -> bool:
    """Return True if processes hold parts of a model."""
    return any(is_dtensor(each) for each in model.parameters())


def total_norm(gradients: list[Tensor]) -> Tensor:
    """Return the norm of all gradients, over all processes where they are sharded."""
    norm = torch.nn.utils.get_total_norm(gradients)
    whole: Tensor = norm.full_tensor() if is_dtensor(norm) else norm
    return whole


def load_whole(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy whole weights into a model, which may be sharded; a tied one may be there under one of its names."""
    targets = model.state_dict(keep_vars=True)
    with torch.no_grad():
        for name, weight in weights.items():
            local(targets[name]).copy_(part_of(weight, targets[name]))
