"""Stepper of encoder-decoder models whose steps replay CUDA graphs."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from regard.decoding.cuda_graphs.capture import CapturedGraph, GraphKey, graph_cache, supports_cuda_graphs
from regard.decoding.steppers.encoder_decoder import EncoderDecoderStepper
from regard.decoding.steppers.ensemble import EnsembleStepper
from regard.decoding.steppers.interface import Request, Stepper
from regard.models.base.protocols import Seq2Seq


class CudaGraphStepper:
    """Stepper of one model: sources are admitted without a graph, and steps replay one.

    Outputs of different lengths are continued without a graph.
    """

    has_prompts = False

    def __init__(self, model: Any, bos_id: int) -> None:
        self._plain = EncoderDecoderStepper(model, bos_id)
        self._graphs = graph_cache(model)
        self._sentences = self._length = 0
        self._has_joined = False  # True once requests joined others
        self._graph: CapturedGraph | None = None
        self._rows = torch.arange(0)  # (B,) the sentences' rows of the graph
        self._is_ordered = False  # True once the order of the next step is written
        self._taken = 0  # steps in all
        self._left = 0  # steps that still fit into the graph
        self._since = 0  # steps since the graph was loaded

    def admit(self, requests: Sequence[Request], hypotheses: int = 1, is_shared: bool = True) -> Tensor:
        """Encode further sources, and return the logits (B, V) after BOS."""
        if self._graph is not None:
            count = self._graph.shape.hypotheses
            order = self._graph.order.view(-1, count)[self._rows] % count
            self._unload(self._graph)
            if self._is_ordered:
                self._plain.reorder(
                    (torch.arange(len(order), device=order.device)[:, None] * count + order).flatten()
                )
        self._has_joined = self._sentences > 0
        self._sentences += len(requests) * (1 if is_shared else hypotheses)
        self._length = max(self._length, *(len(each.ids) for each in requests))
        self._taken += 1
        return self._plain.admit(requests, hypotheses, is_shared)

    def step(self, tokens: Tensor) -> Tensor:
        """Return the logits (R, V)."""
        self._taken += 1
        return self._plain.step(tokens) if self._has_joined else self._captured_step(tokens)

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

    def reorder(self, rows: Tensor, requests: Tensor | None = None) -> None:
        """Select rows; sentences move to a smaller graph when most have left the current one."""
        self._sentences = self._sentences if requests is None else requests.numel()
        graph = self._graph
        if graph is not None and (not self._left or graph.shape.is_too_large_for(self._sentences)):
            self._unload(graph)
        if self._graph is None:
            self._plain.reorder(rows, requests)
            return
        count = self._graph.shape.hypotheses
        order = self._rows[rows // count] * count + rows % count
        if requests is not None:
            self._rows = self._rows[requests]
        self._graph.order.view(-1, count).index_copy_(0, self._rows, order.view(-1, count))
        self._is_ordered = True

    def _load(self, hypotheses: int) -> CapturedGraph | None:
        shape = GraphKey.around(self._sentences, self._length, hypotheses, self._taken)
        self._graph = self._graphs.of(CapturedGraph, shape)
        if self._graph is None:
            return None
        self._since = 0
        self._left = self._graph.static_state.load(self._plain.memory, self._plain.state)
        self._rows = torch.arange(self._sentences, device=self._plain.device)
        return self._graph

    def _unload(self, graph: CapturedGraph) -> None:
        self._plain.memory, self._plain.state = graph.static_state.unload(self._rows, self._since)
        self._graph = None


def build_encoder_decoder_stepper(models: Sequence[Seq2Seq], bos_id: int) -> Stepper:
    """Return the stepper of one model or an ensemble."""
    steppers: list[Stepper] = [stepper_kind(model, models)(model, bos_id) for model in models]
    return steppers[0] if len(steppers) == 1 else EnsembleStepper(steppers)


def stepper_kind(model: Any, members: Sequence[Any]) -> type[EncoderDecoderStepper] | type[CudaGraphStepper]:
    """Return the stepper class of a model; two copies of one model in an ensemble cannot share its graphs."""
    return CudaGraphStepper if supports_cuda_graphs(model) and members.count(model) == 1 else EncoderDecoderStepper
