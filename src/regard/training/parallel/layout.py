"""Division of a training among processes: copies of the model, parts of it, and parts of its layers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from regard.errors import ConfigError

if TYPE_CHECKING:
    import torch
    from torch.distributed.device_mesh import DeviceMesh

REPLICATE, SHARD, TENSOR = "replicate", "shard", "tensor"
"""Names of the dimensions of the mesh of processes, from outside to inside: neighbors split layers."""


@dataclass(frozen=True)
class Layout:
    """The number of copies, of parts of a copy, and of processes that split each layer; their product are all."""

    copies: int = 1
    shards: int = 1
    tensor: int = 1

    @property
    def holders(self) -> int:
        """The number of processes that hold one copy of the weights together."""
        return self.shards * self.tensor

    def mesh(self, device: "torch.device") -> "DeviceMesh":
        """Return the mesh of the processes, whose shards are always a dimension; a collective call."""
        from torch.distributed.device_mesh import init_device_mesh

        sizes = {REPLICATE: self.copies, SHARD: self.shards, TENSOR: self.tensor}
        sizes = {name: size for name, size in sizes.items() if size > 1 or name == SHARD}
        return init_device_mesh(device.type, tuple(sizes.values()), mesh_dim_names=tuple(sizes))


def choose_layout(distributed: str, tensor: int, size: int, on_host: int, needs_shards: bool = False) -> Layout:
    """Return the layout of `size` processes, `on_host` of them on each host.

    `needs_shards`: a process has too little memory for a copy of its own, which `auto` decides by.
    """
    if size % tensor:
        raise ConfigError(
            f"train.tensor_parallel: {tensor} does not divide the {size} processes; start a multiple of {tensor}, or "
            f"choose another number."
        )
    data = size // tensor
    if distributed == "auto":
        distributed = "shard" if needs_shards else "replicate"
    if distributed == "replicate":
        return Layout(data, 1, tensor)
    if distributed == "shard":
        return Layout(1, data, tensor)
    if size % on_host or on_host % tensor:
        raise ConfigError(
            f"train.distributed: hybrid shards within a host and replicates over hosts, but {size} processes, "
            f"{on_host} of them on this host, do not make equal hosts of whole groups of {tensor}; start as many on "
            f"each, or use shard."
        )
    return Layout(size // on_host, on_host // tensor, tensor)
