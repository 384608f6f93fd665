"""Gradients over several processes, and the choice of how they are computed."""

import gc
from contextlib import nullcontext
from typing import cast

from torch import Tensor, nn

from regard.data.feeds.feed import Batch
from regard.errors import RunError
from regard.nn.inference.memory import is_out_of_memory
from regard.objectives.loss import Objective
from regard.training.device.compile import compile_blocks
from regard.training.device.cuda_graphs import CudaGraphGradients, Gradients, Sums
from regard.training.device.machine import Machine
from regard.training.parallel.process_group import ProcessGroup
from regard.training.parallel.replicate import LossModule, replicate

ALONE = ProcessGroup()


class ReplicatedGradients(Gradients):
    """Adds gradients over all processes (DDP), bucket by bucket while the last backward pass runs.

    That pass waits until all have agreed that none ran out of memory: from then on each waits for the others.
    """

    description = (
        "replicate (DDP): each holds the whole model and its optimizer and takes as many tokens of an "
        "update; steps are not captured as CUDA graphs."
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


def out_of_memory() -> RunError:
    """Return the error of a process that ran out of memory where the others already wait for it."""
    return RunError(
        "out of memory between two sums over the processes; resume with a smaller train.micro_batch_tokens, the same "
        "examples in an update."
    )


def build_gradients(
    model: nn.Module, objective: Objective, machine: Machine, team: ProcessGroup = ALONE
) -> Gradients:
    """Return the implementation of gradient accumulation for the machine, after compiling blocks if requested."""
    for module in model.modules():
        if hasattr(module, "is_half_precision"):
            setattr(module, "is_half_precision", machine.bf16_residual)  # noqa: B010 (modules have no such attribute)
    if machine.compile:
        compile_blocks(model)
    if team.size > 1:
        return ReplicatedGradients(model, objective, machine)
    has_graphs = machine.has_graphs and getattr(model, "supports_cuda_graphs", True)
    return (CudaGraphGradients if has_graphs else Gradients)(model, objective, machine)
