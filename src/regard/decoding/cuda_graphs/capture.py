"""Decoding steps recorded as CUDA graphs: what a step asks of the GPU is asked once, and replayed ever after.

A step of a small model is a hundred kernels of a few microseconds, and takes as long as it takes to launch them.
"""

import weakref
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import nn

from regard.models.base.protocols import StaticState, SupportsCudaGraphs
from regard.nn.inference.memory import gc_paused
from regard.nn.probes.probe import probes

SHORTEST_SOURCE = 16
FEWEST_STEPS = 32
LEAVE_AT = 4
"""Sentences move to a smaller recording when so few of them are left: one in four of its rows."""
LARGE = 128
"""Sentences of a recording from which on a step takes longer than that of a smaller one."""
MEMORY_SHARE = 0.1
"""Of the device's memory, for recordings that are kept."""


@dataclass(frozen=True)
class GraphKey:
    """The room a recording has: sizes are powers of two, so that few recordings serve all batches."""

    sentences: int
    length: int
    hypotheses: int
    steps: int

    @classmethod
    def around(cls, sentences: int, length: int, hypotheses: int, taken: int) -> "GraphKey":
        """Return the shape for so many sentences, after some steps and for as many more."""
        length, steps = max(SHORTEST_SOURCE, length), max(FEWEST_STEPS, 2 * taken)
        return cls(power_of_two(sentences), power_of_two(length), hypotheses, power_of_two(steps))

    def is_too_large_for(self, sentences: int) -> bool:
        """Tell whether so few sentences had better move to a smaller recording."""
        return self.sentences >= LARGE and LEAVE_AT * sentences <= self.sentences


def power_of_two(size: int) -> int:
    """Return the next power of two."""
    return 1 << max(0, size - 1).bit_length()


class CapturedGraph:
    """One step in fixed places: what goes in, what comes out, and the graph between (without CUDA: the step)."""

    pool: Any = None
    """Where the graph has what it needs on the way, if it shares that place with other graphs."""

    def __init__(self, model: SupportsCudaGraphs, shape: GraphKey, device: torch.device) -> None:
        self.shape: Any = shape
        self.static_state: StaticState = model.static_state(
            shape.sentences, shape.length, shape.hypotheses, shape.steps
        )
        rows = shape.sentences * shape.hypotheses
        self.tokens = torch.zeros(rows, dtype=torch.long, device=device)
        self.identity = torch.arange(rows, device=device)
        self.order = self.identity.clone()
        self.logits = torch.zeros(0)  # (R, V)
        self._graphs: dict[str, torch.cuda.CUDAGraph] = {}

    @property
    def size(self) -> int:
        """Bytes held."""
        return self.static_state.size

    def record(self) -> None:
        """Do everything once, which sets up what must not be set up in a recording, and then record it."""
        for name in self.parts:
            self.parts[name]()
        if self.tokens.is_cuda:
            torch.cuda.synchronize(self.tokens.device)
            for name, part in self.parts.items():
                graph = torch.cuda.CUDAGraph()
                with (
                    gc_paused(),
                    torch.cuda.graph(graph, pool=self.pool, capture_error_mode="thread_local"),
                ):
                    part()
                self._graphs[name] = graph

    @property
    def parts(self) -> dict[str, Callable[[], None]]:
        """What is recorded, by name, in the order in which it is done."""
        return {"step": self._step}

    def run(self, part: str = "step") -> None:
        """Do one part."""
        if part in self._graphs:
            self._graphs[part].replay()
        else:
            self.parts[part]()

    def _step(self) -> None:
        self.logits = self.static_state.step(self.tokens, self.order)


Kind = TypeVar("Kind", bound=CapturedGraph)


class Recordings:
    """The recordings of one model, the most recently used ones kept."""

    def __init__(self, model: Any) -> None:
        # The model owns its recordings, not they the model: it must be free to go.
        self._model = weakref.ref(model)
        self._kept: OrderedDict[tuple[Any, ...], CapturedGraph] = OrderedDict()
        self._probes = list(probes(model).values())
        # Walking through a model takes longer than a step; its modules with weights of their own are soon asked.
        self._owners = [module for module in model.modules() if module._parameters]
        self._places = self._find_weights()
        self._noticed: set[Any] = set()
        self.pool: Any = None
        """A place that recordings which run one after the other may share."""

    def is_new(self, what: Any) -> bool:
        """Tell whether this is asked for the first time: what comes once is not worth a recording."""
        is_known = what in self._noticed
        self._noticed.add(what)
        return not is_known

    def _find_weights(self) -> list[int]:
        """Return where in memory the weights stand, and the recordings read them."""
        weights = (weight for owner in self._owners for weight in owner._parameters.values())
        return [weight.data_ptr() for weight in weights if weight is not None]

    @property
    def is_up_to_date(self) -> bool:
        """Whether the weights still stand where they did."""
        return self._find_weights() == self._places

    @property
    def is_heard(self) -> bool:
        """Whether anybody listens to the model: a recording could not tell them."""
        return any(probe.is_heard for probe in self._probes)

    @property
    def shapes(self) -> list[Any]:
        """The shapes that are kept."""
        return [each.shape for each in self._kept.values()]

    def of(self, kind: type[Kind], shape: Any, *rules: Any) -> Kind | None:
        """Return the recording of a kind and shape, made now if there is none; None if memory is too short for it."""
        model, key = self._model(), (kind, shape, *rules)
        assert model is not None, "a stepper holds the model"
        if key not in self._kept:
            device = next(model.parameters()).device
            self._make_room(device)
            try:
                made = kind(model, shape, device, *rules)
                made.record()
            except torch.OutOfMemoryError:
                return None
            self._kept[key] = made
        self._kept.move_to_end(key)
        found = self._kept[key]
        assert isinstance(found, kind)
        return found

    def _make_room(self, device: torch.device) -> None:
        if device.type != "cuda":
            return
        limit = MEMORY_SHARE * torch.cuda.get_device_properties(device).total_memory
        while self._kept and sum(each.size for each in self._kept.values()) > limit:
            self._kept.popitem(last=False)


_recordings: "weakref.WeakKeyDictionary[nn.Module, Recordings]" = weakref.WeakKeyDictionary()


def recordings_of(model: Any, may_have_moved: bool = True) -> Recordings:
    """Return the recordings of a model, which outlive a call as long as its weights stay in their places.

    Within a call they do; looking for that again takes as long as a step.
    """
    known = _recordings.get(model)
    if known is None or (may_have_moved and not known.is_up_to_date):
        known = _recordings[model] = Recordings(model)
    return known


def forget_recordings(model: Any) -> None:
    """Drop the recordings of a model, and the memory they hold."""
    _recordings.pop(model, None)


def supports_cuda_graphs(model: Any) -> bool:
    """Tell whether the steps of a model are recorded: on a CUDA device, unless someone listens."""
    is_on_gpu = isinstance(model, SupportsCudaGraphs) and next(model.parameters()).is_cuda  # type: ignore[attr-defined]
    return is_on_gpu and not recordings_of(model).is_heard


def supports_captured_passes(model: Any) -> bool:
    """Tell whether the passes of a model over its outputs are recorded: on a CUDA device, unless someone listens."""
    return next(model.parameters()).is_cuda and not recordings_of(model).is_heard
