"""Sharding: each process holds a part of weights, gradients and optimizer, gathered block by block (FSDP2).

What implements it takes two seconds to load, so it is loaded by those alone who shard.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from regard.checkpoint.background import host_copies
from regard.nn.blocks import DecoderBlock, EncoderBlock
from regard.nn.layers.dtensor import is_dtensor, local, whole
from regard.training.parallel.layout import TENSOR, Layout
from regard.training.parallel.replicate import LossModule
from regard.training.parallel.tensor import note_parts, order_of, parts_of, split_layers

if TYPE_CHECKING:
    from torch.distributed.fsdp import FSDPModule


def shard(module: LossModule, device: torch.device, layout: Layout) -> list["FSDPModule"]:
    """Split and shard a module by a layout, and return its units, of which the first is the module itself.

    Each block of a Transformer is a unit; the rest, such as embeddings and whole recurrent models, is in the first.
    Gradients are added, not averaged: counts have scaled them.
    """
    from torch.distributed.fsdp import fully_shard

    logging.getLogger("torch.distributed.tensor._redistribute").setLevel(logging.ERROR)  # advice to torch's authors
    mesh = layout.mesh(device)
    if layout.tensor > 1:
        split_layers(module.model, mesh[TENSOR])
    names = tuple(name for name in mesh.mesh_dim_names or () if name != TENSOR)
    blocks = [each for each in module.model.modules() if isinstance(each, EncoderBlock | DecoderBlock)]
    keeps = False if layout.shards == 1 else None
    units = [fully_shard(each, mesh=mesh[names], reshard_after_forward=keeps) for each in (*blocks, module)]
    note_parts(module.model)
    for unit in units:
        unit.set_gradient_divide_factor(1.0)
        unit.set_force_sum_reduction_for_comms(True)  # gloo knows no other
    return units[::-1]


@contextmanager
def gathered(units: list["FSDPModule"]) -> Iterator[None]:
    """Hold all parameters of units in each process while the context is open; other units are gathered when called.

    With all units each process may call the model any number of times, else all call it together.
    """
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


@torch.no_grad()
def part_of(tensor: Tensor, parameter: Tensor) -> Tensor:
    """Return the part of a whole tensor that this process holds of a parameter of the same shape."""
    if not is_dtensor(parameter):
        return tensor
    from torch.distributed.tensor import distribute_tensor

    mesh, placements = parameter.device_mesh, parameter.placements
    if parts := parts_of(parameter):
        tensor = tensor[order_of(parts, mesh[TENSOR].size()).to(tensor.device)]
    return local(distribute_tensor(tensor.to(mesh.device_type), mesh, placements, src_data_rank=None))


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


@torch.no_grad()
def to_save(part: Tensor, parameter: Tensor) -> Tensor:
    """Return the tensor of which this process has a part in host memory as it is saved: a part in every process.

    Where layers are split, tensors are gathered one by one, put into the order of a whole model, and cut again.
    """
    if not is_dtensor(parameter) or TENSOR not in (parameter.device_mesh.mesh_dim_names or ()):
        return like(part, parameter)
    return _over_all(whole_of(part.to(parameter.device_mesh.device_type), parameter))


@torch.no_grad()
def whole_of(part: Tensor, parameter: Tensor) -> Tensor:
    """Return the whole tensor of which this process holds a part as it does of a parameter; a collective call."""
    gathered = whole(like(part.contiguous(), parameter))
    if parts := parts_of(parameter):
        order = order_of(parts, parameter.device_mesh[TENSOR].size())  # type: ignore[attr-defined]
        gathered = gathered[order.argsort().to(gathered.device)]
    return gathered


def _over_all(tensor: Tensor) -> Tensor:
    """Return a tensor that all processes hold, cut into a part for each, in host memory."""
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    return distribute_tensor(tensor.cpu(), mesh, [Shard(0)], src_data_rank=None)


def host_parts(model: nn.Module) -> dict[str, Tensor]:
    """Return copies of weights and persistent buffers, once each; this process holds its parts in host memory."""
    tensors, seen = dict[str, Tensor](), set[int]()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            tensors[name] = tensor
    parts = host_copies({name: local(tensor.detach()) for name, tensor in tensors.items()})
    return {name: to_save(part, tensors[name]) for name, part in parts.items()}


def is_sharded(model: nn.Module) -> bool:
    """Return True if processes hold parts of a model."""
    return any(is_dtensor(each) for each in model.parameters())


def total_norm(gradients: list[Tensor]) -> Tensor:
    """Return the norm of all gradients, over all processes where they are sharded."""
    if not gradients:
        return torch.tensor(0.0)
    by_mesh: dict[object, list[Tensor]] = {}  # split layers and others are on different ones
    for gradient in gradients:
        by_mesh.setdefault(gradient.device_mesh if is_dtensor(gradient) else None, []).append(gradient)
    norms = [whole(torch.nn.utils.get_total_norm(each)) for each in by_mesh.values()]
    return norms[0] if len(norms) == 1 else torch.stack(norms).norm()


@torch.no_grad()
def clip(gradients: list[Tensor], max_norm: float, norm: Tensor) -> None:
    """Scale gradients in place so that their norm is at most `max_norm`."""
    if gradients:
        torch._foreach_mul_([local(each) for each in gradients], (max_norm / (norm + 1e-6)).clamp(max=1.0))


def load_whole(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy whole weights into a model, which may be sharded; a tied one may be there under one of its names."""
    targets = model.state_dict(keep_vars=True)
    with torch.no_grad():
        for name, weight in weights.items():
            local(targets[name]).copy_(part_of(weight, targets[name]))
