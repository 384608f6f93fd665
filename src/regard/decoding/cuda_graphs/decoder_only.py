"""Stepper of decoder-only models whose cached steps replay CUDA graphs; prompts are prefilled without one."""

import weakref
from dataclasses import dataclass
from itertools import count
from typing import Any

import torch
from torch import Tensor

from regard.decoding.cuda_graphs.capture import CapturedGraph, graph_cache, power_of_two
from regard.decoding.steppers.decoder_only import DecoderOnlyStepper
from regard.models.base.protocols import CausalLM, DecoderState, SupportsTextCudaGraphs
from regard.nn.layers.dtensor import is_whole_on_gpu

FEWEST_SLOTS = 64


@dataclass(frozen=True)
class TextGraphKey:
    """The capacity of a graph; sizes are powers of two, so that few graphs serve all texts."""

    rows: int
    slots: int


class DecoderOnlyGraph(CapturedGraph):
    """One step of up to `rows` texts with `slots` cached tokens each."""

    def __init__(
        self, model: SupportsTextCudaGraphs, shape: TextGraphKey, device: torch.device, number: int = 0
    ) -> None:
        self.shape = shape
        self.static_state: Any = model.static_text_state(shape.rows, shape.slots)
        self.tokens = torch.zeros(shape.rows, dtype=torch.long, device=device)
        self.logits = torch.zeros(0)  # (R, V)
        self.owner: weakref.ref[CudaGraphDecoderOnlyStepper] | None = None
        self._graphs = {}

    def _step(self) -> None:
        self.logits = self.static_state.step(self.tokens)


class CudaGraphDecoderOnlyStepper(DecoderOnlyStepper):
    """Prefills without a graph and steps with one; every continuation is a row of its own."""

    def __init__(self, model: CausalLM, padding: int, window: int | None = None) -> None:
        super().__init__(model, padding, window)
        self._graphs = graph_cache(model)
        self._graph: DecoderOnlyGraph | None = None
        self._rows: list[int] = []
        """The prefilled text that each row extends; from the first step on, its row of the graph."""
        self._used = 0
        self._is_plain = False

    def _with(self, state: DecoderState, texts: int, hypotheses: int, is_shared: bool) -> DecoderState:
        """Return the state of the batch and then that of further texts, with some rows for each."""
        if not len(self._lengths):
            self._rows = [text for text in range(texts) for _ in range(hypotheses)]  # the graph makes a row of each
            return state
        present = torch.tensor(self._rows, device=self.device)
        if self._graph is not None:
            self._state, self._graph = self._graph.static_state.unload(present, self._used), None
        elif not self._is_plain:
            self._state = self._state.select(present, present)
        self._rows = list(range(len(present) + texts * hypotheses))
        return super()._with(state, texts, hypotheses, is_shared=False)

    def _prefill_anew(self) -> Tensor:
        logits = super()._prefill_anew()
        self._graph, self._rows, self._is_plain = None, list(range(len(logits))), False
        return logits

    def _select(self, rows: Tensor, texts: Tensor | None) -> None:
        """Select rows, in this order and each once; only their numbers change, no cache is copied."""
        self._rows = [self._rows[row] for row in rows.tolist()]
        if self._is_plain:
            super()._select(rows, rows)
            self._rows = list(range(len(rows)))

    def _step(self, tokens: Tensor) -> Tensor:
        if self._graph is None and not self._is_plain:
            self._load()
        if self._is_plain or self._graph is None:
            return super()._step(tokens)
        if self._used == self._graph.shape.slots:
            self._grow(self._graph)
        graph = self._graph
        if len(tokens) == len(graph.tokens) and self._rows == list(range(len(tokens))):
            graph.tokens.copy_(tokens, non_blocking=True)
            graph.run()
            rows = None
        else:
            rows = torch.tensor(self._rows, device=self.device)
            graph.tokens[rows] = tokens
            graph.run()
        self._used += 1
        return graph.logits if rows is None else graph.logits.index_select(0, rows)

    def _load(self) -> None:
        """Load the prefilled state into a graph; where memory does not suffice for one, step without."""
        state: Any = self._state
        texts = torch.tensor(self._rows, device=self.device)
        used = state.caches[0].length
        graph = self._free_graph(len(self._rows), power_of_two(max(FEWEST_SLOTS, 2 * used)))
        if graph is None:
            self._is_plain = True
            self._state = state.select(texts, texts)
            self._rows = list(range(len(texts)))
            return
        self._used = graph.static_state.load(state, texts)
        self._graph, self._rows = graph, list(range(len(self._rows)))
        self._state = self.model.start()  # frees the prefilled cache

    def _grow(self, graph: DecoderOnlyGraph) -> None:
        larger = self._free_graph(graph.shape.rows, 2 * graph.shape.slots)
        if larger is None:
            raise torch.OutOfMemoryError(f"No memory for {graph.shape.rows} texts of {2 * graph.shape.slots} tokens.")
        larger.static_state.take(graph.static_state, self._used)
        graph.owner = None
        self._graph = larger

    def _free_graph(self, rows: int, slots: int) -> DecoderOnlyGraph | None:
        """Return a graph that no other stepper is using; None if memory does not suffice."""
        shape = TextGraphKey(power_of_two(rows), slots)
        for number in count():
            graph = self._graphs.of(DecoderOnlyGraph, shape, number)
            if graph is None:
                return None
            owner = graph.owner and graph.owner()
            if owner is None or owner is self:
                graph.owner = weakref.ref(self)
                return graph
        raise AssertionError("numbers never end")


def build_decoder_only_stepper(
    model: CausalLM, padding: int, window: int | None, is_search: bool
) -> DecoderOnlyStepper:
    """Return the stepper of a model: with CUDA graphs on a CUDA device, unless a probe has a listener.

    A search, whose hypotheses branch at every step, has none: there they share one cache.
    """
    is_supported = isinstance(model, SupportsTextCudaGraphs) and is_whole_on_gpu(model.head.weight) and not is_search
    is_captured = is_supported and not graph_cache(model).has_listener
    return (CudaGraphDecoderOnlyStepper if is_captured else DecoderOnlyStepper)(model, padding, window)
