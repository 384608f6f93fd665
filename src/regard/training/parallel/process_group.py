"""The processes that train together: sums, agreement, and messages over their store."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.distributed_c10d import PrefixStore

from regard.processes import world_size
from regard.training.parallel.failures import Failures


@dataclass(frozen=True)
class ProcessGroup:
    """Rank of this process, and the number of processes that train together."""

    rank: int = 0
    size: int = 1
    failures: Failures | None = field(default=None, compare=False, repr=False)
    tensor_parallel: int = 1
    """Number of neighbors that split the layers of one model: they compute the same batches."""

    @property
    def is_main(self) -> bool:
        """True for the process that writes files and shows progress."""
        return self.rank == 0

    @property
    def data_rank(self) -> int:
        """The number of this process among those that have different data."""
        return self.rank // self.tensor_parallel

    @property
    def data_size(self) -> int:
        """The number of processes that have different data."""
        return self.size // self.tensor_parallel

    @property
    def _is_counted(self) -> bool:
        """True for the first of the neighbors that compute the same."""
        return self.rank % self.tensor_parallel == 0

    def sum_counts(self, counts: dict[str, int], device: torch.device) -> dict[str, int]:
        """Return counts summed over all data."""
        if self.size == 1:
            return counts
        totals = torch.tensor(list(counts.values()), dtype=torch.int64, device=device)
        dist.all_reduce(totals if self._is_counted else totals.zero_())
        return dict(zip(counts, totals.tolist(), strict=True))

    def sum_values(self, values: Tensor) -> Tensor:
        """Return a tensor summed over all data, in place."""
        if self.size > 1:
            dist.all_reduce(values if self._is_counted else values.zero_())
        return values

    def agree(self, flag: bool, device: torch.device) -> bool:
        """Return True if any process set the flag."""
        if self.size == 1:
            return flag
        raised = torch.tensor(int(flag), device=device)
        dist.all_reduce(raised, op=dist.ReduceOp.MAX)
        return bool(raised.item())

    def share(self, text: str) -> str:
        """Return the text of the main process."""
        if self.size == 1:
            return text
        size = torch.tensor(len(text.encode()))
        dist.broadcast(size, 0)
        data = torch.empty(int(size), dtype=torch.uint8)
        if self.is_main:
            data = torch.tensor(list(text.encode()), dtype=torch.uint8)
        dist.broadcast(data, 0)
        return bytes(data.tolist()).decode()

    def share_values(self, values: dict[str, float]) -> dict[str, float]:
        """Return the numbers of the main process, whose names are the same in all."""
        if self.size == 1:
            return values
        numbers = torch.tensor(list(values.values()), dtype=torch.float64)
        dist.broadcast(numbers, 0)
        return dict(zip(values, numbers.tolist(), strict=True))

    def gather(self, text: str) -> list[str]:
        """Return the texts of all processes, by rank."""
        return [each.decode() for each in self.gather_bytes(text.encode())]

    def gather_bytes(self, data: bytes) -> list[bytes]:
        """Return the bytes of all processes, by rank."""
        if self.size == 1:
            return [data]
        sizes = torch.zeros(self.size, dtype=torch.int64)
        sizes[self.rank] = len(data)
        dist.all_reduce(sizes)
        rows = [torch.zeros(int(sizes.max()), dtype=torch.uint8) for _ in range(self.size)]
        own = torch.zeros_like(rows[0])
        if data:
            own[: len(data)] = torch.frombuffer(bytearray(data), dtype=torch.uint8)
        dist.all_gather(rows, own)
        return [row[:length].numpy().tobytes() for row, length in zip(rows, sizes.tolist(), strict=True)]

    def wait(self) -> None:
        """Wait for all processes (barrier)."""
        if self.size > 1:
            dist.barrier()


@contextmanager
def init_process_group(device: torch.device, timeout: float = 600.0) -> Iterator[ProcessGroup]:
    """Join the processes that torchrun started; a single process gets a group of one.

    `timeout` are the seconds after which a process that does not take part is given up. Texts go over gloo, also
    where tensors are on GPUs.
    """
    size = world_size()
    if size == 1:
        yield ProcessGroup()
        return
    limit = timedelta(seconds=timeout)
    failures = Failures.connect(limit)
    with failures.reported():
        dist.init_process_group(
            "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo",
            store=PrefixStore("group", failures.store),
            rank=failures.rank,
            world_size=size,
            timeout=limit,
        )
        yield ProcessGroup(failures.rank, size, failures)
        dist.destroy_process_group()
