"""Replication: the whole model in every process, gradients summed in buckets while the backward pass runs (DDP)."""

from collections.abc import Mapping

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from regard.data.feeds.feed import Batch
from regard.objectives.loss import Objective, scaled_total

BUCKETS = 16
"""Number of buckets, of a model that is not so large that they would exceed DDP's own size."""


class LossModule(nn.Module):
    """The objective as the forward pass of a module: DDP and FSDP act where a module is called."""

    def __init__(self, model: nn.Module, objective: Objective) -> None:
        super().__init__()
        self.model, self.objective = model, objective

    def forward(self, batch: Batch, counts: Mapping[str, int]) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the scalar for `backward`, and the sum of each part."""
        loss = self.objective(self.model, batch)
        return scaled_total(loss, counts), {name: part.sum.detach() for name, part in loss.items()}


def replicate(module: LossModule) -> DistributedDataParallel:
    """Return the module with gradients that are added over all processes, not averaged: counts have scaled them.

    Which parameters have a gradient may differ from update to update; one without any keeps none, as in one process.
    """
    ddp = DistributedDataParallel(
        module,
        forward_sync_buffers=False,
        find_unused_parameters=True,
        gradient_as_bucket_view=True,
        bucket_cap_mb=_bucket_size(sum(each.nbytes for each in module.parameters())),
    )
    ddp.register_comm_hook(None, _add)
    return ddp


def _bucket_size(gradients: int) -> float:
    """Return the MiB of a bucket, given the bytes of all gradients: a small model has several buckets, too.

    With those of 25 MiB that are DDP's default, most of its gradients would wait for the end of the backward pass.
    """
    return min(25.0, max(1.0, gradients / BUCKETS / 2**20))


def _add(_: object, bucket: dist.GradBucket) -> torch.futures.Future[Tensor]:  # type: ignore[name-defined]
    summed = dist.all_reduce(bucket.buffer(), async_op=True)
    assert summed is not None
    future: torch.futures.Future[Tensor] = summed.get_future().then(lambda done: done.value()[0])
    return future
