"""Data parallelism: every process computes some micro-batches of an update, and gradients are summed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn


@dataclass(frozen=True)
class ProcessGroup:
    """Rank of this process, and the number of processes that train together."""

    rank: int = 0
    size: int = 1

    @property
    def is_main(self) -> bool:
        """True for the process that writes files and shows progress."""
        return self.rank == 0

    def sum_counts(self, counts: dict[str, int], device: torch.device) -> dict[str, int]:
        """Return counts summed over all processes."""
        if self.size == 1:
            return counts
        totals = torch.tensor(list(counts.values()), dtype=torch.int64, device=device)
        dist.all_reduce(totals)
        return dict(zip(counts, totals.tolist(), strict=True))

    def sum_values(self, values: Tensor) -> Tensor:
        """Return a tensor summed over all processes, in place."""
        if self.size > 1:
            dist.all_reduce(values)
        return values

    def sum_gradients(self, model: nn.Module) -> None:
        """Sum gradients over all processes; they are already scaled by global counts, so nothing is divided."""
        if self.size == 1:
            return
        for parameter in model.parameters():
            if parameter.grad is None and parameter.requires_grad:  # a gradient of 0 would let weights decay
                parameter.grad = torch.zeros_like(parameter)
        gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        dist.all_reduce(flat)
        for gradient, summed in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
            gradient.copy_(summed.view_as(gradient))

    def agree(self, flag: bool, device: torch.device) -> bool:
        """Return True if any process set the flag."""
        if self.size == 1:
            return flag
        raised = torch.tensor(int(flag), device=device)
        dist.all_reduce(raised, op=dist.ReduceOp.MAX)
        return bool(raised.item())

    def wait(self) -> None:
        """Wait for all processes (barrier)."""
        if self.size > 1:
            dist.barrier()


def is_main_process() -> bool:
    """Return True if this process will have rank 0, before the group is initialized."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def init_process_group(device: torch.device) -> Iterator[ProcessGroup]:
    """Join the processes that torchrun started; a single process gets a group of one."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield ProcessGroup()
        return
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield ProcessGroup(dist.get_rank(), size)
    finally:
        dist.destroy_process_group()
