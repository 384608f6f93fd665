"""Stepper of encoder-decoder models: sources are encoded once, and outputs begin with BOS."""

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.decoding.steppers.interface import Request, padded
from regard.models.base.protocols import DecoderState, Memory, Seq2Seq


class EncoderDecoderStepper:
    """The encoded sources of a batch, and the decoder state of their hypotheses."""

    has_prompts = False

    def __init__(self, model: Seq2Seq, bos_id: int, pad_id: int = 0) -> None:
        self.model, self.bos_id, self.pad_id = model, bos_id, pad_id
        self.device = model.head.weight.device
        self.memory: Memory | None = None
        self.state: DecoderState = model.start()

    def admit(self, requests: Sequence[Request], hypotheses: int = 1, is_shared: bool = True) -> Tensor:
        """Encode further sources, and return the logits (B, V) after BOS."""
        memory = self.model.encode(*padded(requests, self.pad_id, self.device, is_left=False))
        state = self.model.start()
        bos = torch.full((len(requests), 1), self.bos_id, device=self.device)
        logits = self.model.project(self.model.decode(bos, memory, state)[:, -1]).float()
        if hypotheses > 1:
            rows = torch.arange(len(requests), device=self.device).repeat_interleave(hypotheses)
            state = state.select(rows, None if is_shared else rows)
            memory = memory if is_shared else memory.select(rows)
        self.state = state if self.memory is None else self.state.join(state)
        self.memory = memory if self.memory is None else self.memory.join(memory)
        return logits

    def step(self, tokens: Tensor) -> Tensor:
        """Return the logits (R, V)."""
        assert self.memory is not None, "requests come first"
        hidden = self.model.decode(tokens[:, None], self.memory, self.state)  # (R, 1, D)
        return self.model.project(hidden[:, -1]).float()

    def reorder(self, rows: Tensor, requests: Tensor | None = None) -> None:
        """Select rows of the state, and of the memory where requests leave."""
        assert self.memory is not None, "requests come first"
        self.state = self.state.select(rows, requests)
        if requests is not None:
            self.memory = self.memory.select(requests)
