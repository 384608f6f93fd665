"""A stepper whose steps are recorded."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from regard.decoding.cuda_graphs.capture import CapturedGraph, GraphKey, recordings_of, supports_cuda_graphs
from regard.decoding.steppers.interface import EnsembleStepper, ModelStepper, Stepper
from regard.models.base.protocols import Seq2Seq


class CudaGraphStepper:
    """Steps of one model: the first as it comes, all further ones from recordings."""

    def __init__(self, model: Any, source: Tensor, token_mask: Tensor) -> None:
        self._plain = ModelStepper(model, source, token_mask)
        self._recordings = recordings_of(model)
        self._sentences, self._length = source.shape
        self._device = source.device
        self._now: CapturedGraph | None = None
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
        if now is not None and (not self._left or now.shape.is_too_large_for(self._sentences)):
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

    def _load(self, hypotheses: int) -> CapturedGraph | None:
        shape = GraphKey.around(self._sentences, self._length, hypotheses, self._taken)
        self._now = self._recordings.of(CapturedGraph, shape)
        if self._now is None:
            return None
        self._since = 0
        self._left = self._now.static_state.load(self._plain.memory, self._plain.state)
        self._rows = torch.arange(self._sentences, device=self._device)
        return self._now

    def _unload(self, now: CapturedGraph) -> None:
        self._plain.memory, self._plain.state = now.static_state.unload(self._rows, self._since)
        self._now = None


def build_stepper(models: Sequence[Seq2Seq], source: Tensor, token_mask: Tensor) -> Stepper:
    """Return the stepper over sources (B, S) of one model or an ensemble."""
    steppers = [stepper_kind(model, models)(model, source, token_mask) for model in models]
    return steppers[0] if len(steppers) == 1 else EnsembleStepper(steppers)


def stepper_kind(model: Any, members: Sequence[Any]) -> type[ModelStepper] | type[CudaGraphStepper]:
    """Return how the steps of a model are taken; one that is there twice cannot share its recordings."""
    return CudaGraphStepper if supports_cuda_graphs(model) and members.count(model) == 1 else ModelStepper
