"""Stepper of encoder-decoder models whose steps replay CUDA graphs."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from regard.decoding.cuda_graphs.capture import CapturedGraph, GraphKey, graph_cache, supports_cuda_graphs
from regard.decoding.steppers.interface import EnsembleStepper, ModelStepper, Stepper
from regard.models.base.protocols import Seq2Seq


class CudaGraphStepper:
    """Stepper of one model: the first step runs without a graph, all further ones replay one."""

    def __init__(self, model: Any, source: Tensor, token_mask: Tensor) -> None:
        self._plain = ModelStepper(model, source, token_mask)
        self._graphs = graph_cache(model)
        self._sentences, self._length = source.shape
        self._device = source.device
        self._graph: CapturedGraph | None = None
        self._rows = torch.arange(0)  # (B,) the sentences' rows of the graph
        self._is_ordered = False  # True once the order of the next step is written
        self._taken = 0  # steps in all
        self._left = 0  # steps that still fit into the graph
        self._since = 0  # steps since the graph was loaded

    def step(self, tokens: Tensor) -> Tensor:
        """Return the logits (R, V)."""
        self._taken += 1
        return self._captured_step(tokens) if self._taken > 1 else self._plain.step(tokens)

    def _captured_step(self, tokens: Tensor) -> Tensor:
        if self._graph is not None and not self._left:
            self._unload(self._graph)
        graph = self._graph or self._load(tokens.numel() // self._sentences)
        if graph is None:
            return self._plain.step(tokens)
        if not self._is_ordered:
            graph.order.copy_(graph.identity)
        count = graph.shape.hypotheses
        graph.tokens.view(-1, count).index_copy_(0, self._rows, tokens.view(-1, count))
        graph.run()
        self._is_ordered = False
        self._since += 1
        self._left -= 1
        return graph.logits.unflatten(0, (-1, count)).index_select(0, self._rows).flatten(0, 1)

    def reorder(self, hypotheses: Tensor, sentences: Tensor | None = None) -> None:
        """Select rows; sentences move to a smaller graph when most have left the current one."""
        self._sentences = self._sentences if sentences is None else sentences.numel()
        graph = self._graph
        if graph is not None and (not self._left or graph.shape.is_too_large_for(self._sentences)):
            self._unload(graph)
        if self._graph is None:
            self._plain.reorder(hypotheses, sentences)
            return
        count = self._graph.shape.hypotheses
        order = self._rows[hypotheses // count] * count + hypotheses % count
        if sentences is not None:
            self._rows = self._rows[sentences]
        self._graph.order.view(-1, count).index_copy_(0, self._rows, order.view(-1, count))
        self._is_ordered = True

    def _load(self, hypotheses: int) -> CapturedGraph | None:
        shape = GraphKey.around(self._sentences, self._length, hypotheses, self._taken)
        self._graph = self._graphs.of(CapturedGraph, shape)
        if self._graph is None:
            return None
        self._since = 0
        self._left = self._graph.static_state.load(self._plain.memory, self._plain.state)
        self._rows = torch.arange(self._sentences, device=self._device)
        return self._graph

    def _unload(self, graph: CapturedGraph) -> None:
        self._plain.memory, self._plain.state = graph.static_state.unload(self._rows, self._since)
        self._graph = None


def build_stepper(models: Sequence[Seq2Seq], source: Tensor, token_mask: Tensor) -> Stepper:
    """Return the stepper over sources (B, S) of one model or an ensemble."""
    steppers = [stepper_kind(model, models)(model, source, token_mask) for model in models]
    return steppers[0] if len(steppers) == 1 else EnsembleStepper(steppers)


def stepper_kind(model: Any, members: Sequence[Any]) -> type[ModelStepper] | type[CudaGraphStepper]:
    """Return the stepper class of a model; two copies of one model in an ensemble cannot share its graphs."""
    return CudaGraphStepper if supports_cuda_graphs(model) and members.count(model) == 1 else ModelStepper
