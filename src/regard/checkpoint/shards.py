"""Tensors that several processes wrote together: a safetensors file each, read as whole tensors by anyone.

`torch.distributed.checkpoint` writes them; where a part belongs is JSON in its header, and nothing is pickled.
"""

import math
import warnings
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import safetensors
import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.checkpoint.api import CheckpointException
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader, HuggingFaceStorageWriter
from torch.distributed.checkpoint.metadata import TensorStorageMetadata
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save

from regard.errors import CheckpointError

Shape = tuple[int, ...]


class ShardWriter:
    """Writes parts of tensors by all processes together, over connections of its own: from a thread, too."""

    def __init__(self, timeout: timedelta | None = None) -> None:
        self.group = dist.new_group(backend="gloo", timeout=timeout)

    def write(self, folder: Path, tensors: Mapping[str, Tensor]) -> None:
        """Write tensors, each process its part of those that are sharded; what fails in one is raised in all."""
        write_shards(folder, tensors, self.group)

    def wait(self) -> None:
        """Wait until all processes are here."""
        dist.barrier(self.group)


def write_shards(folder: Path, tensors: Mapping[str, Tensor], group: dist.ProcessGroup | None = None) -> None:
    """Write tensors, each process its part of those that are sharded; a collective call of all processes of a group.

    What fails in one of them is raised in all.
    """
    writer = HuggingFaceStorageWriter(str(folder), save_distributed=True)
    try:
        save(dict(tensors), storage_writer=writer, process_group=group)
    except CheckpointException as error:
        causes = [cause for cause, _ in error.failures.values()]
        raise next((cause for cause in causes if isinstance(cause, OSError)), causes[0]) from None


def shapes_of_shards(folder: Path) -> dict[str, Shape]:
    """Return the shape of every tensor by name, from the headers alone; a part that is missing is refused."""
    return {name: tuple(entry.size) for name, entry in _entries(folder).items()}


def read_shards(folder: Path) -> dict[str, Tensor]:
    """Return the whole tensors by name, whatever number of processes wrote them."""
    entries = _entries(folder)
    tensors = {name: torch.empty(entry.size, dtype=entry.properties.dtype) for name, entry in entries.items()}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of reading in a single process, which is meant
            load(tensors, storage_reader=HuggingFaceStorageReader(str(folder)), no_dist=True)
    except Exception as error:
        raise _damaged(folder, error) from None
    return tensors


def _entries(folder: Path) -> dict[str, TensorStorageMetadata]:
    """Return the sizes and parts of all tensors; the parts must fill each of them."""
    try:
        metadata = HuggingFaceStorageReader(str(folder)).read_metadata().state_dict_metadata
    except (safetensors.SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(folder, error) from None
    entries = {name: entry for name, entry in metadata.items() if isinstance(entry, TensorStorageMetadata)}
    for name, entry in entries.items():
        written = sum(math.prod(part.sizes) for part in entry.chunks)
        if written != math.prod(entry.size):
            raise _damaged(folder, f"{written:,} of {math.prod(entry.size):,} values of {name} are there")
    return entries


def _damaged(folder: Path, reason: object) -> CheckpointError:
    return CheckpointError(f"{folder}: damaged ({reason}); copy it again or use another checkpoint.")
