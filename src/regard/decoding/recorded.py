"""Decoding steps recorded as CUDA graphs: what a step asks of the GPU is asked once, and replayed ever after.

A step of a small model is a hundred kernels of a few microseconds, and takes as long as it takes to launch them.
"""

import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from regard.decoding.stepper import EnsembleStepper, ModelStepper, Stepper
from regard.models import Fixed, Recordable, SequenceToSequence
from regard.nn import probes

SHORTEST_SOURCE = 16
FEWEST_STEPS = 32
LEAVE_AT = 4
"""Sentences move to a smaller recording when so few of them are left: one in four of its rows."""
MEMORY_SHARE = 0.1
"""Of the device's memory, for recordings that are kept."""


@dataclass(frozen=True)
class Shape:
    """The room a recording has: sizes are powers of two, so that few recordings serve all batches."""

    sentences: int
    length: int
    hypotheses: int
    steps: int


class Recording:
    """One step in fixed places: what goes in, what comes out, and the graph between (without CUDA: the step)."""

    def __init__(self, model: Recordable, shape: Shape, device: torch.device) -> None:
        self.shape = shape
        self.fixed: Fixed = model.fixed(shape.sentences, shape.length, shape.hypotheses, shape.steps)
        rows = shape.sentences * shape.hypotheses
        self.tokens = torch.zeros(rows, dtype=torch.long, device=device)
        self.identity = torch.arange(rows, device=device)
        self.order = self.identity.clone()
        self.logits = self.fixed.step(self.tokens, self.order)  # warms up what must not be set up in a recording
        self.graph = torch.cuda.CUDAGraph() if device.type == "cuda" else None
        if self.graph is not None:
            torch.cuda.synchronize(device)
            with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
                self.logits = self.fixed.step(self.tokens, self.order)

    def run(self) -> None:
        """Take the step."""
        if self.graph is not None:
            self.graph.replay()
        else:
            self.logits = self.fixed.step(self.tokens, self.order)


class Recordings:
    """The recordings of one model, the most recently used ones kept."""

    def __init__(self, model: Any, places: list[int]) -> None:
        # The model owns its recordings, not they the model: it must be free to go.
        self._model = weakref.ref(model)
        self._kept: OrderedDict[Shape, Recording] = OrderedDict()
        self._probes = list(probes(model).values())
        self.places = places
        """Where in memory the weights stand, and the recordings read them."""

    @property
    def is_heard(self) -> bool:
        """Whether anybody listens to the model: a recording could not tell them."""
        return any(probe.is_heard for probe in self._probes)

    def of(self, shape: Shape) -> Recording | None:
        """Return the recording of a shape, made now if there is none; None if memory is too short for it."""
        model = self._model()
        assert model is not None, "a stepper holds the model"
        if shape not in self._kept:
            device = next(model.parameters()).device
            self._make_room(device)
            try:
                self._kept[shape] = Recording(model, shape, device)
            except torch.OutOfMemoryError:
                return None
        self._kept.move_to_end(shape)
        return self._kept[shape]

    def _make_room(self, device: torch.device) -> None:
        if device.type != "cuda":
            return
        limit = MEMORY_SHARE * torch.cuda.get_device_properties(device).total_memory
        while self._kept and sum(each.fixed.size for each in self._kept.values()) > limit:
            self._kept.popitem(last=False)


_recordings: "weakref.WeakKeyDictionary[nn.Module, Recordings]" = weakref.WeakKeyDictionary()


def recordings_of(model: Any) -> Recordings:
    """Return the recordings of a model, which outlive a call as long as its weights stay in their places."""
    known, places = _recordings.get(model), [parameter.data_ptr() for parameter in model.parameters()]
    if known is None or known.places != places:
        known = _recordings[model] = Recordings(model, places)
    return known


def power_of_two(size: int) -> int:
    """Return the next power of two."""
    return 1 << max(0, size - 1).bit_length()


class RecordedStepper:
    """Steps of one model: the first as it comes, all further ones from recordings."""

    def __init__(self, model: Any, source: Tensor, real: Tensor) -> None:
        self._plain = ModelStepper(model, source, real)
        self._recordings = recordings_of(model)
        self._sentences, self._length = source.shape
        self._device = source.device
        self._now: Recording | None = None
        self._rows = torch.arange(0)  # (B,) where in the recording the sentences stand
        self._is_ordered = False  # whether the recording was told who goes on from whom
        self._taken = 0  # steps
        self._left = 0  # steps that there is still room for
        self._since = 0  # steps since the recording was loaded

    def step(self, tokens: Tensor) -> Tensor:
        """Return the logits (R, V)."""
        self._taken += 1
        return self._recorded_step(tokens) if self._taken > 1 else self._plain.step(tokens)

    def _recorded_step(self, tokens: Tensor) -> Tensor:
        if self._now is not None and not self._left:
            self._unload(self._now)
        now = self._now or self._load(tokens.numel() // self._sentences)
        if now is None:
            return self._plain.step(tokens)
        if not self._is_ordered:
            now.order.copy_(now.identity)
        count = now.shape.hypotheses
        now.tokens.view(-1, count).index_copy_(0, self._rows, tokens.view(-1, count))
        now.run()
        self._is_ordered = False
        self._since += 1
        self._left -= 1
        return now.logits.unflatten(0, (-1, count)).index_select(0, self._rows).flatten(0, 1)

    def reorder(self, hypotheses: Tensor, sentences: Tensor | None = None) -> None:
        """Let rows go on from others; sentences move to a smaller recording when most have left this one."""
        self._sentences = self._sentences if sentences is None else sentences.numel()
        now = self._now
        if now is not None and (not self._left or LEAVE_AT * self._sentences <= now.shape.sentences):
            self._unload(now)
        if self._now is None:
            self._plain.reorder(hypotheses, sentences)
            return
        count = self._now.shape.hypotheses
        order = self._rows[hypotheses // count] * count + hypotheses % count
        if sentences is not None:
            self._rows = self._rows[sentences]
        self._now.order.view(-1, count).index_copy_(0, self._rows, order.view(-1, count))
        self._is_ordered = True

    def _load(self, hypotheses: int) -> Recording | None:
        length, steps = max(SHORTEST_SOURCE, self._length), max(FEWEST_STEPS, 2 * self._taken)
        shape = Shape(power_of_two(self._sentences), power_of_two(length), hypotheses, power_of_two(steps))
        self._now = self._recordings.of(shape)
        if self._now is None:
            return None
        self._since = 0
        self._left = self._now.fixed.load(self._plain.memory, self._plain.state)
        self._rows = torch.arange(self._sentences, device=self._device)
        return self._now

    def _unload(self, now: Recording) -> None:
        self._plain.memory, self._plain.state = now.fixed.unload(self._rows, self._since)
        self._now = None


def build_stepper(models: Sequence[SequenceToSequence], source: Tensor, real: Tensor) -> Stepper:
    """Return the stepper over sources (B, S) of one model or an ensemble."""
    steppers = [stepper_kind(model, models)(model, source, real) for model in models]
    return steppers[0] if len(steppers) == 1 else EnsembleStepper(steppers)


def stepper_kind(model: Any, members: Sequence[Any]) -> type[ModelStepper] | type[RecordedStepper]:
    """Return how the steps of a model are taken: recorded on a CUDA device, unless someone looks or shares it."""
    can_record = isinstance(model, Recordable) and model.head.weight.is_cuda  # type: ignore[attr-defined]
    if can_record and members.count(model) == 1 and not recordings_of(model).is_heard:
        return RecordedStepper
    return ModelStepper
