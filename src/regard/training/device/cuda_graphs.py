"""Gradient accumulation over the micro-batches of an update, computed eagerly or replayed from CUDA graphs."""

from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from regard.data.encoding.batches import pinned
from regard.data.feeds.feed import Batch
from regard.nn.inference.memory import gc_paused, release_memory
from regard.objectives.loss import Loss, Objective, scaled_total
from regard.training.device.machine import Machine
from regard.training.parallel.division import divided
from regard.training.parallel.process_group import ProcessGroup

Sums = dict[str, Tensor | float]
"""The sum of each part of a loss."""


class Gradients:
    """Adds the gradients of each micro-batch to `.grad`."""

    description = ""
    """One sentence on how several processes divide the work."""

    def __init__(self, model: nn.Module, objective: Objective, machine: Machine) -> None:
        self.model, self.objective, self.machine = model, objective, machine
        self.counts: dict[str, int] = {}

    def begin(self, counts: dict[str, int], micro_batches: int = 1) -> None:
        """Begin an update with these counts of its loss parts, over all micro-batches and processes.

        `micro_batches` is the number that this process will add, possibly none.
        """
        self.counts = counts

    def add(self, batch: Batch) -> Sums:
        """Add the gradients of one micro-batch and return the sum of each loss part."""
        return self._compute(batch.to(self.machine.device))

    def fill(self, batch: Batch) -> None:
        """Take part in the pass of other processes that have one micro-batch more."""

    def finish(self) -> None:
        """Complete the gradients, after all processes have agreed that nothing ran out of memory."""

    def evaluating(self, team: ProcessGroup) -> AbstractContextManager[None]:
        """Return the context in which the processes call the model to evaluate it, and divide the rows."""
        return divided(team)

    def clear(self) -> None:
        """Drop the gradients."""
        for parameter in self.model.parameters():
            parameter.grad = None

    def release(self) -> None:
        """Drop gradients and cached memory, after memory ran out."""
        self.clear()
        release_memory(self.machine.device)

    def _compute(self, batch: Batch) -> Sums:
        with self.machine.autocast():
            loss = self.objective(self.model, batch)
        self._total(loss).backward()
        return {name: part.sum.detach() for name, part in loss.items()}

    def _total(self, loss: Loss) -> Tensor:
        return scaled_total(loss, self.counts)


@dataclass(frozen=True)
class GradientGraph:
    """A captured graph, its input batch and its output sums."""

    graph: torch.cuda.CUDAGraph
    batch: Any
    sums: Sums


class CudaGraphGradients(Gradients):
    """Captures forward and backward pass once for each batch shape, and replays them without Python and launches.

    A step of a small model is a thousand kernels, and launching them one by one takes all its time. Gradients have
    static buffers: the first micro-batch of an update overwrites them, further ones add. Most gradients of the first
    capture become buffers themselves, so that they need no copy.
    """

    def __init__(self, model: nn.Module, objective: Objective, machine: Machine) -> None:
        super().__init__(model, objective, machine)
        self._graphs: dict[tuple[int, ...], GradientGraph] = {}
        self._trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self._buffers: list[Tensor] = []
        self._is_first = True
        self._has_room = True
        self._is_capturing = False
        self._scales = {name: torch.zeros((), device=machine.device) for name in objective.parts}
        self.release()

    def begin(self, counts: dict[str, int], micro_batches: int = 1) -> None:
        """Begin an update; the counts are written to a static buffer that the graphs read."""
        for name, scale in self._scales.items():
            scale.fill_(1 / max(1, counts[name]))
        self._is_first = True
        if not micro_batches:
            torch._foreach_zero_(self._buffers)

    def _total(self, loss: Loss) -> Tensor:
        terms = [part.weight * part.sum * self._scales[name] for name, part in loss.items() if part.weight]
        return torch.stack(terms).sum()

    def release(self) -> None:
        """Drop all graphs, and capture no more if there were any; gradients are set to 0."""
        self._has_room = self._has_room and not self._graphs
        self._graphs = {}
        self._seen: set[tuple[int, ...]] = set()
        self._pool = torch.cuda.graph_pool_handle()
        self._is_first = True
        self._buffers = []
        super().release()
        self._buffers = [torch.zeros_like(parameter) for parameter in self._trained]
        for parameter, buffer in zip(self._trained, self._buffers, strict=True):
            parameter.grad = buffer

    def clear(self) -> None:
        """Keep the gradients where they have static buffers, which the next update overwrites."""
        if not self._buffers:
            super().clear()

    def _compute(self, batch: Batch) -> Sums:
        with self.machine.autocast():
            loss = self.objective(self.model, batch)
        gradients = torch.autograd.grad(self._total(loss), self._trained, materialize_grads=True)
        if not self._is_first:
            torch._foreach_add_(self._buffers, gradients)
        elif self._is_capturing and not self._graphs:
            self._adopt(gradients)
        else:
            torch._foreach_copy_(self._buffers, gradients)
        return {name: part.sum.detach() for name, part in loss.items()}

    def _adopt(self, gradients: Sequence[Tensor]) -> None:
        """Make the gradients of a capture the static buffers, or copy them there.

        A gradient that two parameters share, or that is a view of a larger tensor, must not be written to.
        """
        shared = Counter(gradient.untyped_storage().data_ptr() for gradient in gradients)
        buffers, copied = list[Tensor](), list[Tensor]()
        for number, (parameter, gradient) in enumerate(zip(self._trained, gradients, strict=True)):
            storage = gradient.untyped_storage()
            is_whole = storage.nbytes() == gradient.nbytes and gradient.stride() == parameter.stride()
            if is_whole and shared[storage.data_ptr()] == 1:
                self._buffers[number] = parameter.grad = gradient
            else:
                buffers.append(self._buffers[number])
                copied.append(gradient)
        if copied:
            torch._foreach_copy_(buffers, copied)

    def add(self, batch: Any) -> Sums:
        """Add the gradients of one micro-batch and return the sum of each loss part."""
        batch = batch.padded_to_bucket(getattr(self.model, "max_positions", None))
        key = (*batch.shape, self._is_first)
        captured = self._graphs.get(key)
        if captured is not None:
            for name, value in batch.tensors.items():
                captured.batch.tensors[name].copy_(pinned(value, self.machine.device), non_blocking=True)
        elif batch.shape in self._seen and self._has_room:
            captured = self._capture(batch.to(self.machine.device), key)
        self._seen.add(batch.shape)
        if captured is None:  # the first batch of a shape warms up what must not be set up during capture
            sums = self._compute(batch.to(self.machine.device))
            self._is_first = False
            return sums
        self._is_first = False
        captured.graph.replay()
        return {name: torch.as_tensor(value).clone() for name, value in captured.sums.items()}

    @cached_property
    def _stream(self) -> torch.cuda.Stream:
        """One stream for all captures: memory used on a stream can be reused on the same one alone."""
        return torch.cuda.Stream()

    def _capture(self, batch: Any, key: tuple[int, ...]) -> GradientGraph | None:
        """Return the captured graph of a batch, not yet run; None, from now on, if memory does not suffice."""
        graph, stream = torch.cuda.CUDAGraph(), self._stream
        torch.cuda.synchronize()
        torch.cuda.empty_cache()  # graphs have a memory pool of their own, and cannot use cached blocks
        try:
            with gc_paused(), torch.cuda.stream(stream):
                graph.capture_begin(pool=self._pool, capture_error_mode="thread_local")
                self._is_capturing = True
                try:
                    sums = self._compute(batch)
                finally:
                    self._is_capturing = False
                    graph.capture_end()
        except torch.OutOfMemoryError:
            self._has_room = False
            return None
        torch.cuda.current_stream().wait_stream(stream)
        captured = self._graphs[key] = GradientGraph(graph, batch, sums)
        return captured
