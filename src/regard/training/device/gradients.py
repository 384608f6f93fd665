"""Gradients over several processes, and the choice of how they are computed."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import cast

from torch import Tensor, nn

from regard.data.feeds.feed import Batch
from regard.errors import ConfigError, RunError
from regard.nn.inference.memory import is_out_of_memory
from regard.objectives.loss import Objective
from regard.processes import processes_on_host
from regard.training.device.activation_checkpointing import checkpoint_blocks
from regard.training.device.compile import compile_blocks
from regard.training.device.cuda_graphs import CudaGraphGradients, Gradients, Sums
from regard.training.device.machine import Machine
from regard.training.parallel.division import divided
from regard.training.parallel.layout import Layout, choose_layout
from regard.training.parallel.process_group import ProcessGroup
from regard.training.parallel.replicate import LossModule, replicate
from regard.training.parallel.shard import gathered, shard

ALONE = ProcessGroup()
BYTES = 16
"""Bytes of a parameter with its gradient and the two moments of Adam in fp32."""
WEIGHT_BYTES = 4
"""Those of its weights alone."""
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

    def __init__(self, model: nn.Module, objective: Objective, machine: Machine, layout: Layout) -> None:
        super().__init__(model, objective, machine)
        self._module = LossModule(model, objective)
        self._units = shard(self._module, machine.device, layout)
        self.description = describe(layout, len(self._units) - 1)

    def fill(self, batch: Batch) -> None:
        """Add gradients of 0, of a micro-batch that another process computes."""
        self._compute(batch.to(self.machine.device), 0.0)

    @contextmanager
    def evaluating(self, team: ProcessGroup) -> Iterator[None]:
        """Hold the whole model in each process, or each group of those that split it, which divide the rows.

        Where it does not fit, blocks are gathered as they are called: all processes compute all rows, at once.
        """
        size = sum(WEIGHT_BYTES * each.numel() for each in self.model.parameters()) / team.tensor_parallel
        fits = size <= STATE_FRACTION * self.machine.memory
        with gathered(self._units if fits else self._units[:1]), divided(team if fits else ALONE):
            yield

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


def layout_of(choice: str, tensor_parallel: int, model: nn.Module, machine: Machine, size: int) -> Layout:
    """Return how several processes divide a model: as the settings ask; by its size and the device's for `auto`."""
    state = sum(BYTES * each.numel() for each in model.parameters())
    needs_shards = state / tensor_parallel > STATE_FRACTION * machine.memory
    return choose_layout(choice, tensor_parallel, size, processes_on_host(), needs_shards)


def describe(layout: Layout, blocks: int) -> str:
    """Return one sentence on a layout of sharded gradients."""
    parts = list[str]()
    if layout.tensor > 1:
        parts.append(
            f"tensor parallel: groups of {layout.tensor} split heads, feed-forward layers and vocabulary, without "
            f"the fused kernels around them"
        )
    if layout.shards > 1:
        kind = "hybrid (HSDP)" if layout.copies > 1 else "shard (FSDP2)"
        copies = f" of each of {layout.copies} copies" if layout.copies > 1 else ""
        parts.append(
            f"{kind}: each holds 1/{layout.holders} of weights, gradients and optimizer{copies}, gathers "
            f"{blocks} blocks one by one and the rest at once"
        )
    elif layout.copies > 1:
        parts.append(f"replicate: {layout.copies} groups, whose gradients are added block by block")
    return "; ".join((*parts, "steps are not captured as CUDA graphs."))


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
    if machine.compile and team.tensor_parallel > 1:
        raise ConfigError("machine.compile: blocks whose layers are split are not compiled; leave it out.")
    if machine.compile:
        compile_blocks(model)
    if recomputes:
        checkpoint_blocks(model)
    layout = layout_of(distributed, team.tensor_parallel, model, machine, team.size)
    if layout.holders > 1:
        return ShardedGradients(model, objective, machine, layout)
    if team.size > 1:
        return ReplicatedGradients(model, objective, machine)
    has_graphs = machine.has_graphs and not recomputes and getattr(model, "supports_cuda_graphs", True)
    return (CudaGraphGradients if has_graphs else Gradients)(model, objective, machine)
