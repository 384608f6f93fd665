"""CUDA graphs of decoding steps: the kernels of a step are captured once and replayed as one launch.

A step of a small model is a hundred kernels of a few microseconds each, so that launching them takes all its time.
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
from regard.nn.layers.dtensor import is_whole_on_gpu
from regard.nn.probes.probe import probes

SHORTEST_SOURCE = 16
FEWEST_STEPS = 32
LEAVE_AT = 4
"""Sentences move to a smaller graph when no more than one in four of its rows is still in use."""
LARGE = 128
"""Number of sentences from which a step is slower than that of a smaller graph."""
MEMORY_FRACTION = 0.1
"""Fraction of the device's memory that the cached graphs may hold."""


@dataclass(frozen=True)
class GraphKey:
    """The capacity of a graph; sizes are powers of two, so that few graphs serve all batches."""

    sentences: int
    length: int
    hypotheses: int
    steps: int

    @classmethod
    def around(cls, sentences: int, length: int, hypotheses: int, taken: int) -> "GraphKey":
        """Return the key for a number of sentences with some steps taken, with room for as many more."""
        length, steps = max(SHORTEST_SOURCE, length), max(FEWEST_STEPS, 2 * taken)
        return cls(power_of_two(sentences), power_of_two(length), hypotheses, power_of_two(steps))

    def is_too_large_for(self, sentences: int) -> bool:
        """Return True if the sentences that are left should move to a smaller graph."""
        return self.sentences >= LARGE and LEAVE_AT * sentences <= self.sentences


def power_of_two(size: int) -> int:
    """Return the smallest power of two that is not less than a size."""
    return 1 << max(0, size - 1).bit_length()


class CapturedGraph:
    """One decoding step: static input and output buffers and its CUDA graph (on a CPU: the step itself)."""

    pool: Any = None
    """The memory pool of intermediate tensors, where it is shared with other graphs."""

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
        """Bytes held by the state."""
        return self.static_state.size

    def capture(self) -> None:
        """Run every part once, to warm up what must not be set up during capture, and then capture it."""
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
        """The captured functions by name, in the order in which they run."""
        return {"step": self._step}

    def run(self, part: str = "step") -> None:
        """Replay one part, or call it where it is not captured."""
        if part in self._graphs:
            self._graphs[part].replay()
        else:
            self.parts[part]()

    def _step(self) -> None:
        self.logits = self.static_state.step(self.tokens, self.order)


Kind = TypeVar("Kind", bound=CapturedGraph)


class GraphCache:
    """The captured graphs of one model, with least-recently-used eviction."""

    def __init__(self, model: Any) -> None:
        # Weak, so that the graphs do not keep their model alive.
        self._model = weakref.ref(model)
        self._kept: OrderedDict[tuple[Any, ...], CapturedGraph] = OrderedDict()
        self._probes = list(probes(model).values())
        # Walking over all modules takes longer than a step, so those with parameters of their own are listed once.
        self._owners = [module for module in model.modules() if module._parameters]
        self._addresses = self._weight_addresses()
        self._requested: set[Any] = set()
        self.pool: Any = None
        """A memory pool for graphs that run one after the other."""

    def is_new(self, key: Any) -> bool:
        """Return True if a key is requested for the first time: what is used once is not worth a capture."""
        was_requested = key in self._requested
        self._requested.add(key)
        return not was_requested

    def _weight_addresses(self) -> list[int]:
        """Return the memory addresses of the weights, which the graphs hold."""
        weights = (weight for owner in self._owners for weight in owner._parameters.values())
        return [weight.data_ptr() for weight in weights if weight is not None]

    @property
    def is_up_to_date(self) -> bool:
        """True if the weights are still at the captured addresses."""
        return self._weight_addresses() == self._addresses

    @property
    def has_listener(self) -> bool:
        """True if a probe of the model has a listener, which a replayed graph could not call."""
        return any(probe.has_listener for probe in self._probes)

    @property
    def shapes(self) -> list[Any]:
        """The keys of the cached graphs."""
        return [each.shape for each in self._kept.values()]

    def of(self, kind: type[Kind], shape: Any, *rules: Any) -> Kind | None:
        """Return the graph of a class and key, captured now if it is not cached; None if memory does not suffice."""
        model, key = self._model(), (kind, shape, *rules)
        assert model is not None, "a stepper holds the model"
        if key not in self._kept:
            device = next(model.parameters()).device
            self._make_room(device)
            try:
                graph = kind(model, shape, device, *rules)
                graph.capture()
            except torch.OutOfMemoryError:
                return None
            self._kept[key] = graph
        self._kept.move_to_end(key)
        cached = self._kept[key]
        assert isinstance(cached, kind)
        return cached

    def _make_room(self, device: torch.device) -> None:
        if device.type != "cuda":
            return
        limit = MEMORY_FRACTION * torch.cuda.get_device_properties(device).total_memory
        while self._kept and sum(each.size for each in self._kept.values()) > limit:
            self._kept.popitem(last=False)


_caches: "weakref.WeakKeyDictionary[nn.Module, GraphCache]" = weakref.WeakKeyDictionary()


def graph_cache(model: Any, may_have_moved: bool = True) -> GraphCache:
    """Return the graphs of a model, which are reused between calls while its weights stay at their addresses.

    Within a call they stay, and `may_have_moved=False` skips the check, which takes as long as a step.
    """
    cache = _caches.get(model)
    if cache is None or (may_have_moved and not cache.is_up_to_date):
        cache = _caches[model] = GraphCache(model)
    return cache


def drop_graphs(model: Any) -> None:
    """Drop the graphs of a model, and the memory they hold."""
    _caches.pop(model, None)


def supports_cuda_graphs(model: Any) -> bool:
    """Return True if the steps of a model are captured: on a CUDA device, unless a probe has a listener."""
    return isinstance(model, SupportsCudaGraphs) and supports_captured_passes(model)


def supports_captured_passes(model: Any) -> bool:
    """Return True if a model's mask-predict passes are captured: on a CUDA device, unless a probe has a listener."""
    is_on_gpu = all(is_whole_on_gpu(weight) for weight in model.parameters())
    return is_on_gpu and not graph_cache(model).has_listener
