"""Several processes train one model: each takes a share of an update's micro-batches, and gradients are summed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn


@dataclass(frozen=True)
class ProcessGroup:
    """This process' place among all that train together."""

    rank: int = 0
    size: int = 1

    @property
    def is_main(self) -> bool:
        """Whether this process writes files and shows progress."""
        return self.rank == 0

    def sum_counts(self, counts: dict[str, int], device: torch.device) -> dict[str, int]:
        """Return counts added up over all processes."""
        if self.size == 1:
            return counts
        totals = torch.tensor(list(counts.values()), dtype=torch.int64, device=device)
        dist.all_reduce(totals)
        return dict(zip(counts, totals.tolist(), strict=True))

    def sum_values(self, values: Tensor) -> Tensor:
        """Return a tensor added up over all processes."""
        if self.size > 1:
            dist.all_reduce(values)
        return values

    def sum_gradients(self, model: nn.Module) -> None:
        """Add gradients up over all processes; counts have already scaled them, so nothing is divided."""
        if self.size == 1:
            return
        for parameter in model.parameters():
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        dist.all_reduce(flat)
        for gradient, summed in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
            gradient.copy_(summed.view_as(gradient))

    def agree(self, flag: bool, device: torch.device) -> bool:
        """Return whether any process raised the flag."""
        if self.size == 1:
            return flag
        raised = torch.tensor(int(flag), device=device)
        dist.all_reduce(raised, op=dist.ReduceOp.MAX)
        return bool(raised.item())

    def wait(self) -> None:
        """Wait until every process is here."""
        if self.size > 1:
            dist.barrier()


def is_main_process() -> bool:
    """Tell whether this process will lead its team, before it has joined one."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def init_process_group(device: torch.device) -> Iterator[ProcessGroup]:
    """Join the processes that torchrun started; alone, there is nothing to join."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield ProcessGroup()
        return
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield ProcessGroup(dist.get_rank(), size)
    finally:
        dist.destroy_process_group()
