"""Gradients over several processes, and the choice of how they are computed."""

import gc
from contextlib import AbstractContextManager, nullcontext
from typing import cast

from torch import Tensor, nn

from regard.data.feeds.feed import Batch
from regard.errors import RunError
from regard.nn.inference.memory import is_out_of_memory
from regard.objectives.loss import Objective
from regard.training.device.activation_checkpointing import checkpoint_blocks
from regard.training.device.compile import compile_blocks
from regard.training.device.cuda_graphs import CudaGraphGradients, Gradients, Sums
from regard.training.device.machine import Machine
from regard.training.parallel.process_group import ProcessGroup
from regard.training.parallel.replicate import LossModule, replicate
from regard.training.parallel.shard import gathered, shard

ALONE = ProcessGroup()
BYTES = 16
"""Bytes of a parameter with its gradient and the two moments of Adam in fp32."""
STATE_FRACTION = 0.6
"""The largest fraction of a device's memory that these may take where each process holds all of them."""


class ReplicatedGradients(Gradients):
    """Adds gradients over all processes (DDP), bucket by bucket while the last backward pass runs.

    That pass waits until all have agreed that none ran out of memory: from then on each waits for the others.
    """

    description = (
        "replicate (DDP): each holds the whole model and its optimizer; steps are not captured as CUDA graphs."
    )

    def __init__(self, model: nn.Module, objective: Objective, machine: Machine) -> None:
        super().__init__(model, objective, machine)
        self._module = LossModule(model, objective)
        self._ddp = replicate(self._module)
        self._left, self._pending = 0, list[Tensor]()
        self._is_open = False

    def begin(self, counts: dict[str, int], micro_batches: int = 1) -> None:
        """Begin an update with these counts of its loss parts, and a number of micro-batches, with the filler."""
        super().begin(counts, micro_batches)
        if self._is_open:  # the last one was given up: DDP still waits for a backward pass that never comes
            del self._ddp
            gc.collect()
            self._ddp = replicate(self._module)
        self._left, self._pending, self._is_open = micro_batches, [], True

    def fill(self, batch: Batch) -> None:
        """Add gradients of 0, of a micro-batch that another process computes."""
        self._compute(batch.to(self.machine.device), 0.0)

    def finish(self) -> None:
        """Run the backward pass that was left, along with the sums over all processes."""
        try:
            for total in self._pending:
                total.backward()
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            raise out_of_memory() from None
        finally:
            self._pending = []
        self._is_open = False

    def release(self) -> None:
        """Drop gradients, the pass that was left, and cached memory."""
        self._pending = []
        super().release()

    def _compute(self, batch: Batch, factor: float = 1.0) -> Sums:
        self._module.objective = self.objective
        self._left -= 1
        with nullcontext() if self._left == 0 else self._ddp.no_sync():
            with self.machine.autocast():
                total, sums = self._ddp(batch, self.counts)
            if self._left == 0:
                self._pending = [total * factor]
            else:
                total.backward()
        return cast(Sums, sums)


class ShardedGradients(Gradients):
    """Adds gradients over all processes; each holds a part of them, of the weights and of the optimizer (FSDP2).

    Every pass is a series of exchanges: a process that runs out of memory in one cannot agree on it with the others.
    """

    def __init__(self, model: nn.Module, objective: Objective, machine: Machine, team: ProcessGroup) -> None:
        super().__init__(model, objective, machine)
        self._module = LossModule(model, objective)
        self._units = shard(self._module, machine.device, team.size)
        self.description = (
            f"shard (FSDP2): each holds 1/{team.size} of weights, gradients and optimizer, gathers "
            f"{len(self._units) - 1} blocks one by one and the rest at once; "
            "steps are not captured as CUDA graphs."
        )

    def fill(self, batch: Batch) -> None:
        """Add gradients of 0, of a micro-batch that another process computes."""
        self._compute(batch.to(self.machine.device), 0.0)

    def gathered(self) -> AbstractContextManager[None]:
        """Return the context in which this process holds the whole model, and may call it by itself."""
        return gathered(self._units)

    def _compute(self, batch: Batch, factor: float = 1.0) -> Sums:
        self._module.objective = self.objective
        try:
            with self.machine.autocast():
                total, sums = self._module(batch, self.counts)
            (total * factor).backward()
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            raise out_of_memory() from None
        return cast(Sums, sums)


def needs_shards(choice: str, model: nn.Module, machine: Machine) -> bool:
    """Return whether several processes shard a model: if the settings ask for it or replicas take too much memory."""
    state = sum(BYTES * each.numel() for each in model.parameters())
    return choice == "shard" or (choice == "auto" and state > STATE_FRACTION * machine.memory)


def out_of_memory() -> RunError:
    """Return the error of a process that ran out of memory where the others already wait for it."""
    return RunError(
        "out of memory between two sums over the processes; resume with a smaller train.micro_batch_tokens, the same "
        "examples in an update."
    )


def build_gradients(
    model: nn.Module,
    objective: Objective,
    machine: Machine,
    team: ProcessGroup = ALONE,
    distributed: str = "auto",
    recomputes: bool = False,
) -> Gradients:
    """Return the implementation of gradient accumulation for the machine, after compiling blocks if requested.

    `recomputes`: activations of blocks are not kept (activation checkpointing), which no CUDA graph can hold.
    """
    for module in model.modules():
        if hasattr(module, "is_half_precision"):
            setattr(module, "is_half_precision", machine.bf16_residual)  # noqa: B010 (modules have no such attribute)
    if machine.compile:
        compile_blocks(model)
    if recomputes:
        checkpoint_blocks(model)
    if team.size > 1 and needs_shards(distributed, model, machine):
        return ShardedGradients(model, objective, machine, team)
    if team.size > 1:
        return ReplicatedGradients(model, objective, machine)
    has_graphs = machine.has_graphs and not recomputes and getattr(model, "supports_cuda_graphs", True)
    return (CudaGraphGradients if has_graphs else Gradients)(model, objective, machine)
