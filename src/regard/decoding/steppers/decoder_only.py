"""Stepper of decoder-only models: prefill, cached steps and the context window."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from regard.decoding.steppers.interface import Request, padded
from regard.models.base.protocols import CausalLM, DecoderState


def window_start(length: int, window: int | None) -> int:
    """Return the position of the first token inside the context window of a text of some length.

    A full window of `window` tokens makes room for the next token by keeping its newest half, that token included,
    so that it moves rarely instead of at every step. Its start depends on the length alone, so that a long prompt is
    treated as if it had been generated token by token.
    """
    if window is None or length <= window:
        return 0
    step = window + 1 - max(1, window // 2)
    return -(-(length - window) // step) * step


class DecoderOnlyStepper:
    """The decoder state of a batch of texts.

    Where the window of a text moves, all are prefilled anew, and from then on each row has a cache of its own, which
    does not show outside.
    """

    has_prompts = True

    def __init__(self, model: CausalLM, padding: int, window: int | None = None) -> None:
        self.model, self.pad_id, self.window = model, padding, window
        self.device = model.head.weight.device
        self._state: DecoderState = model.start()
        self._lengths = np.zeros(0, np.int64)  # in tokens, of each request
        self._is_apart = False  # True once each row has a cache of its own
        # What a window that moves needs: the texts of all rows, and the tokens and orders of rows since.
        self._texts: list[list[int]] = []
        self._since: list[tuple[Tensor, bool]] = []

    def admit(self, requests: Sequence[Request], hypotheses: int = 1, is_shared: bool = True) -> Tensor:
        """Prefill further prompts, and return the next-token logits (B, V)."""
        if self.window is not None:
            self._texts = self._whole_texts()
            self._texts += [list(request.ids) for request in requests for _ in range(hypotheses)]
        state, logits = self._prefill(requests)
        self._state = self._with(state, len(requests), hypotheses, is_shared)
        lengths = np.array([len(request.ids) for request in requests])
        self._lengths = np.concatenate((self._lengths, lengths if is_shared else lengths.repeat(hypotheses)))
        return logits

    def _with(self, state: DecoderState, texts: int, hypotheses: int, is_shared: bool) -> DecoderState:
        """Return the state of the batch and then that of further texts, with some rows for each."""
        if hypotheses > 1:
            rows = torch.arange(texts, device=self.device).repeat_interleave(hypotheses)
            state = state.select(rows, None if is_shared and not self._is_apart else rows)
        return self._state.join(state) if len(self._lengths) else state

    def _prefill(self, requests: Sequence[Request]) -> tuple[DecoderState, Tensor]:
        """Return the state after the windows of texts, left-padded, and the next-token logits (B, V)."""
        windows = [replace(each, ids=each.ids[window_start(len(each.ids), self.window) :]) for each in requests]
        tokens, token_mask = padded(windows, self.pad_id, self.device, is_left=True)
        has_padding = len({len(each.ids) for each in windows}) > 1
        state = self.model.start()
        return state, self._forward(tokens, state, token_mask if has_padding else None)

    def step(self, tokens: Tensor) -> Tensor:
        """Append a token to each row, and return the next-token logits (R, V)."""
        self._lengths += 1
        if self.window is not None:
            self._since.append((tokens, False))
            lengths = set(self._lengths.tolist()) if self._lengths.max() > self.window else ()
            if any(window_start(length, self.window) != window_start(length - 1, self.window) for length in lengths):
                return self._prefill_anew()
        return self._step(tokens)

    def _prefill_anew(self) -> Tensor:
        """Prefill the windows of all rows, and return the next-token logits (R, V)."""
        self._texts = self._whole_texts()
        self._is_apart = True
        self._state, logits = self._prefill([Request(text, 0) for text in self._texts])
        return logits

    def _step(self, tokens: Tensor) -> Tensor:
        return self._forward(tokens[:, None], self._state, None)

    def _forward(self, tokens: Tensor, state: DecoderState, token_mask: Tensor | None) -> Tensor:
        return self.model.project(self.model.hidden_states(tokens, state, token_mask)[:, -1]).float()

    def _whole_texts(self) -> list[list[int]]:
        """Return prompt and new tokens of each row."""
        texts = self._texts
        for values, is_order in self._since:
            if is_order:
                texts = [list(texts[row]) for row in values.tolist()]
            else:
                for text, token in zip(texts, values.tolist(), strict=True):
                    text.append(token)
        self._since = []
        return texts

    def reorder(self, rows: Tensor, requests: Tensor | None = None) -> None:
        """Select rows, the same number for each request; `requests` are those that stay (default: all)."""
        if self.window is not None:
            self._since.append((rows, True))
        if requests is not None:
            self._lengths = self._lengths[requests.cpu().numpy()]
        self._select(rows, rows if self._is_apart else requests)

    def _select(self, rows: Tensor, texts: Tensor | None) -> None:
        self._state = self._state.select(rows, texts)
