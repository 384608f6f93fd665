"""Tensor parallelism: processes split the heads, the feed-forward layers and the vocabulary of one model.

The inputs and outputs of split layers are the same in all of them, so they compute the same batches with the same
dropout; where each has its own heads or features, its dropout is its own.
"""

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.models.base.tensor_parallel import Split
from regard.models.families import family
from regard.nn.attention.attention import Attention, SelfAttention
from regard.nn.blocks import BlockSettings, FeedForward
from regard.nn.layers.dtensor import is_dtensor
from regard.nn.layers.embedding import VocabularyHead
from regard.nn.layers.linear import Linear
from regard.nn.layers.low_rank import is_adapted
from regard.nn.layers.positions import Alibi, RelativeBias

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh


def check_tensor_parallel(settings: object, processes: int) -> None:
    """Refuse a family whose layers are not split, and sizes that the number of processes does not divide."""
    if processes == 1:
        return
    where = "train.tensor_parallel"
    name = getattr(settings, "family", "")
    if not isinstance(settings, BlockSettings) or family(name).tensor_parallel is None:
        raise ConfigError(
            f'{where}: the layers of the family "{name}" are not split over processes; leave it out, or '
            f"use train.distributed=shard."
        )
    sizes = {
        "heads": settings.heads,
        "key_value_heads": settings.groups,
        "feed_forward_width": settings.feed_forward_width,
    }
    for field, size in sizes.items():
        if size % processes:
            raise ConfigError(
                f"{where}: {processes} does not divide model.{field} ({size}); choose a divisor, or another size."
            )


def split_layers(model: nn.Module, mesh: "DeviceMesh") -> None:
    """Split the layers of a model over the processes of a mesh, by the table of its family."""
    body = getattr(model, "body", model)
    check_tensor_parallel(body.settings, mesh.size())
    if is_adapted(model):
        raise ConfigError("train.tensor_parallel: layers with low-rank updates are not split; leave one of both out.")
    table = family(str(getattr(body.settings, "family", ""))).tensor_parallel or {}
    chosen = [(module, split) for name, module in body.named_modules() if (split := _find(table, name))]
    ties = _ties(model)
    for module, split in sorted(chosen, key=lambda each: isinstance(each[0], VocabularyHead)):
        SPLITS[split](module, mesh)
        _tie(ties)  # the output projection may be an embedding matrix, which is split by now
    for module in body.modules():
        if isinstance(module, Attention):
            module.head_count //= mesh.size()
            module.attend = _apart(module.attend, module, module.dropout, mesh)  # type: ignore[method-assign]
        if isinstance(module, SelfAttention):
            module.groups //= mesh.size()
        if isinstance(module, FeedForward):
            dropout = module.dropout
            dropout.forward = _apart(dropout.forward, dropout, dropout.probability, mesh)  # type: ignore[method-assign]


def order_of(parts: tuple[int, ...], processes: int) -> Tensor:
    """Return the order of rows in which those of each process, a chunk of every part, stand together."""
    chunks = [part.chunk(processes) for part in torch.arange(sum(parts)).split(list(parts))]
    return torch.cat([each[rank] for rank in range(processes) for each in chunks])


def parts_of(parameter: Tensor) -> tuple[int, ...]:
    """Return the sizes of the parts whose rows `split_layers` has put in another order; none if it has not."""
    parts: tuple[int, ...] = getattr(parameter, "parts", ())
    return parts


def note_parts(model: nn.Module) -> None:
    """Note at the parameters of split layers which parts their rows consist of, once they are in their last form."""
    for module in model.modules():
        if isinstance(module, Linear) and len(module.parts) > 1 and is_dtensor(module.weight) and _is_by_rows(module):
            for parameter in module.parameters(recurse=False):
                parameter.parts = module.parts  # type: ignore[attr-defined]


def _is_by_rows(layer: Linear) -> bool:
    names = layer.weight.device_mesh.mesh_dim_names or ()  # type: ignore[attr-defined]
    return "tensor" in names


def _find(table: Mapping[str, Split], name: str) -> Split | None:
    return next((split for pattern, split in table.items() if fnmatchcase(name, pattern)), None)


def _ties(model: nn.Module) -> list[list[tuple[nn.Module, str]]]:
    """Return the places of each parameter that is in several."""
    places: dict[int, list[tuple[nn.Module, str]]] = {}
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            places.setdefault(id(parameter), []).append((module, name))
    return [each for each in places.values() if len(each) > 1]


def _tie(ties: list[list[tuple[nn.Module, str]]]) -> None:
    for places in ties:
        split = next((each for module, name in places if is_dtensor(each := getattr(module, name))), None)
        if split is not None:
            for module, name in places:
                setattr(module, name, split)


def _columns(layer: nn.Module, mesh: "DeviceMesh") -> None:
    from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module

    assert isinstance(layer, Linear)
    if len(layer.parts) > 1:
        order = order_of(layer.parts, mesh.size())
        with torch.no_grad():
            for parameter in layer.parameters():
                parameter.copy_(parameter[order])
    parallelize_module(layer, mesh, ColwiseParallel(), src_data_rank=None)


def _rows(layer: nn.Module, mesh: "DeviceMesh") -> None:
    from torch.distributed.tensor.parallel import RowwiseParallel, parallelize_module

    parallelize_module(layer, mesh, RowwiseParallel(), src_data_rank=None)


def _vocabulary(layer: nn.Module, mesh: "DeviceMesh") -> None:
    """Split the rows of an embedding matrix or an output projection, whose number need not be divisible."""
    from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_module, distribute_tensor
    from torch.distributed.tensor.parallel import RowwiseParallel, parallelize_module

    if not isinstance(layer, VocabularyHead):
        parallelize_module(layer, mesh, RowwiseParallel(input_layouts=Replicate()), src_data_rank=None)
        return

    def distribute(_: str, head: nn.Module, mesh: "DeviceMesh") -> None:
        for name, parameter in head.named_parameters(recurse=False):
            if not is_dtensor(parameter):
                split = distribute_tensor(parameter, mesh, [Shard(0)], src_data_rank=None)
                head.register_parameter(name, nn.Parameter(split, requires_grad=parameter.requires_grad))

    replicated = lambda _, inputs, mesh: DTensor.from_local(inputs[0], mesh, [Replicate()], run_check=False)
    gathered = lambda _, outputs, mesh: outputs.redistribute(placements=[Replicate()]).to_local()
    distribute_module(layer, mesh, distribute, replicated, gathered)  # type: ignore[arg-type]


def _heads(positions: nn.Module, mesh: "DeviceMesh") -> None:
    """Split the biases of attention heads; other positions are the same for all heads."""
    from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module

    if isinstance(positions, RelativeBias):
        parallelize_module(positions.table, mesh, ColwiseParallel(), src_data_rank=None)
    elif isinstance(positions, Alibi):
        own = positions.get_buffer("slopes").chunk(mesh.size())[mesh.get_local_rank()]
        positions.register_buffer("slopes", own.clone(), persistent=False)


SPLITS: dict[Split, Callable[[nn.Module, "DeviceMesh"], None]] = {
    "columns": _columns,
    "rows": _rows,
    "vocabulary": _vocabulary,
    "heads": _heads,
}


def _apart(
    call: Callable[..., Tensor], module: nn.Module, probability: float, mesh: "DeviceMesh"
) -> Callable[..., Tensor]:
    """Return a call with random numbers of this process' own, which leaves the common ones where all have them."""

    if not probability:
        return call

    def forward(*arguments: object) -> Tensor:
        if not module.training:
            return call(*arguments)
        seed = int(torch.randint(2**62, ()))
        devices = [torch.cuda.current_device()] if mesh.device_type == "cuda" else []
        with torch.random.fork_rng(devices):
            torch.manual_seed(seed + mesh.get_local_rank())
            return call(*arguments)

    return forward
