"""The gradients of an update, a micro-batch after the other: computed as they come, or replayed from CUDA graphs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import torch
from torch import Tensor, nn

from regard.data.encoding.batches import pinned
from regard.nn.inference.memory import gc_paused, release_memory
from regard.objectives.loss import Loss, Objective, scaled_total
from regard.training.device.compile import compile_blocks
from regard.training.device.machine import Machine
from regard.training.metrics_window import Sums


class Gradients:
    """Adds the gradients of each micro-batch to `.grad`."""

    def __init__(self, model: nn.Module, objective: Objective, machine: Machine) -> None:
        self.model, self.objective, self.machine = model, objective, machine
        self.counts: dict[str, int] = {}

    def begin(self, counts: dict[str, int], share: int = 1) -> None:
        """Begin an update with these counts of its parts, all micro-batches and processes together.

        `share` is the number of micro-batches to be added here; a process may have none.
        """
        self.counts = counts

    def add(self, batch: Any) -> Sums:
        """Add the gradients of one micro-batch and return the sum of each part."""
        return self._compute(batch.to(self.machine.device))

    def clear(self) -> None:
        """Forget the gradients."""
        for parameter in self.model.parameters():
            parameter.grad = None

    def release(self) -> None:
        """Give up what is kept for speed: memory ran out."""
        self.clear()
        release_memory(self.machine.device)

    def _compute(self, batch: Any) -> Sums:
        with self.machine.autocast():
            loss = self.objective(self.model, batch)
        self._total(loss).backward()
        return {name: part.sum.detach() for name, part in loss.items()}

    def _total(self, loss: Loss) -> Tensor:
        return scaled_total(loss, self.counts)


@dataclass(frozen=True)
class GradientGraph:
    """A graph, the batch it reads, and the sums it leaves behind."""

    graph: torch.cuda.CUDAGraph
    batch: Any
    sums: Sums


class CudaGraphGradients(Gradients):
    """Records what a batch sets off on the GPU, once for each shape, and replays it without Python and its launches.

    A step of a small model is a thousand kernels, and takes as long as it takes to ask for them one by one. Gradients
    lie in places that never move: the first micro-batch of an update writes over the last one's, further ones add.
    The first recording leaves most of them where it finds them, which become their places: nothing is copied.
    """

    def __init__(self, model: nn.Module, objective: Objective, machine: Machine) -> None:
        super().__init__(model, objective, machine)
        self._recordings: dict[tuple[int, ...], GradientGraph] = {}
        self._learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self._places: list[Tensor] = []
        self._is_first = True
        self._has_room = True
        self._is_recording = False
        self._scales = {name: torch.zeros((), device=machine.device) for name in objective.parts}
        self.release()

    def begin(self, counts: dict[str, int], share: int = 1) -> None:
        """Begin an update; a graph finds its counts where they always are."""
        for name, scale in self._scales.items():
            scale.fill_(1 / max(1, counts[name]))
        self._is_first = True
        if not share:
            torch._foreach_zero_(self._places)

    def _total(self, loss: Loss) -> Tensor:
        terms = [part.weight * part.sum * self._scales[name] for name, part in loss.items() if part.weight]
        return torch.stack(terms).sum()

    def release(self) -> None:
        """Drop all recordings, and make no more if there were any; gradients begin anew at 0."""
        self._has_room = self._has_room and not self._recordings
        self._recordings = {}
        self._seen: set[tuple[int, ...]] = set()
        self._pool = torch.cuda.graph_pool_handle()
        self._is_first = True
        self._places = []
        super().release()
        self._places = [torch.zeros_like(parameter) for parameter in self._learned]
        for parameter, place in zip(self._learned, self._places, strict=True):
            parameter.grad = place

    def clear(self) -> None:
        """Leave the gradients where they are, as long as they have places: the next update writes over them."""
        if not self._places:
            super().clear()

    def _compute(self, batch: Any) -> Sums:
        with self.machine.autocast():
            loss = self.objective(self.model, batch)
        found = torch.autograd.grad(self._total(loss), self._learned, materialize_grads=True)
        if not self._is_first:
            torch._foreach_add_(self._places, found)
        elif self._is_recording and not self._recordings:
            self._stay(found)
        else:
            torch._foreach_copy_(self._places, found)
        return {name: part.sum.detach() for name, part in loss.items()}

    def _stay(self, found: Sequence[Tensor]) -> None:
        """Make the gradients that a recording finds the places of all further ones, or have them copied.

        One that two parameters share, or that is a piece of something larger, must not be written to.
        """
        shared = Counter(gradient.untyped_storage().data_ptr() for gradient in found)
        places, others = list[Tensor](), list[Tensor]()
        for number, (parameter, gradient) in enumerate(zip(self._learned, found, strict=True)):
            storage = gradient.untyped_storage()
            is_whole = storage.nbytes() == gradient.nbytes and gradient.stride() == parameter.stride()
            if is_whole and shared[storage.data_ptr()] == 1:
                self._places[number] = parameter.grad = gradient
            else:
                places.append(self._places[number])
                others.append(gradient)
        if others:
            torch._foreach_copy_(places, others)

    def add(self, batch: Any) -> Sums:
        """Add the gradients of one micro-batch and return the sum of each part."""
        batch = batch.padded_to_bucket(getattr(self.model, "max_positions", None))
        kind = (*batch.shape, self._is_first)
        recording = self._recordings.get(kind)
        if recording is not None:
            for name, value in batch.tensors.items():
                recording.batch.tensors[name].copy_(pinned(value, self.machine.device), non_blocking=True)
        elif batch.shape in self._seen and self._has_room:
            recording = self._record(batch.to(self.machine.device), kind)
        self._seen.add(batch.shape)
        if recording is None:  # the first time warms up what must not be set up inside a recording
            sums = self._compute(batch.to(self.machine.device))
            self._is_first = False
            return sums
        self._is_first = False
        recording.graph.replay()
        return {name: torch.as_tensor(value).clone() for name, value in recording.sums.items()}

    @cached_property
    def _stream(self) -> torch.cuda.Stream:
        """One for all recordings: memory that was used on a stream can only be used again on the same."""
        return torch.cuda.Stream()

    def _record(self, batch: Any, kind: tuple[int, ...]) -> GradientGraph | None:
        """Return the recording of a batch, nothing computed yet; None, now and ever after, if memory is short."""
        graph, stream = torch.cuda.CUDAGraph(), self._stream
        torch.cuda.synchronize()
        torch.cuda.empty_cache()  # recordings live in memory of their own, and cannot take back what lies idle
        try:
            with gc_paused(), torch.cuda.stream(stream):
                graph.capture_begin(pool=self._pool, capture_error_mode="thread_local")
                self._is_recording = True
                try:
                    sums = self._compute(batch)
                finally:
                    self._is_recording = False
                    graph.capture_end()
        except torch.OutOfMemoryError:
            self._has_room = False
            return None
        torch.cuda.current_stream().wait_stream(stream)
        recording = self._recordings[kind] = GradientGraph(graph, batch, sums)
        return recording


def build_gradients(model: nn.Module, objective: Objective, machine: Machine) -> Gradients:
    """Return the way of computing gradients that suits the machine."""
    for module in model.modules():
        if hasattr(module, "is_narrow"):
            cast(Any, module).is_narrow = machine.bf16_residual
    if machine.compile:
        compile_blocks(model)
    has_graphs = machine.has_graphs and getattr(model, "is_recordable", True)
    return (CudaGraphGradients if has_graphs else Gradients)(model, objective, machine)
