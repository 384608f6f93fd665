"""Stepper of decoder-only models: prefill, cached steps and the context window."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

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
    """The decoder state of a batch of texts, later with the same number of hypotheses for each."""

    def __init__(self, model: CausalLM, padding: int) -> None:
        self.model, self.pad_id = model, padding
        self.device = model.head.weight.device
        self._state: DecoderState = model.start()

    def begin(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Prefill rows of different lengths, left-padded, and return the next-token logits (R, V)."""
        longest = max(map(len, rows))
        tokens = np.full((len(rows), longest), self.pad_id, np.int64)
        for number, row in enumerate(rows):
            tokens[number, longest - len(row) :] = row
        lengths = np.array([len(row) for row in rows])
        token_mask = np.arange(longest) >= longest - lengths[:, None]
        self._state = self.model.start()
        return self._forward(tokens, None if token_mask.all() else torch.from_numpy(token_mask).to(self.device))

    def step(self, tokens: Sequence[int]) -> Tensor:
        """Append a token to each row, and return the next-token logits (R, V)."""
        return self._forward(np.array(tokens, np.int64)[:, None], None)

    def _forward(self, tokens: np.typing.NDArray[np.int64], token_mask: Tensor | None) -> Tensor:
        hidden = self.model.hidden_states(torch.from_numpy(tokens).to(self.device), self._state, token_mask)
        return self.model.project(hidden[:, -1]).float()

    def select(self, hypotheses: Sequence[int], texts: Sequence[int] | None = None) -> None:
        """Select rows, the same number for each text; `texts` are those that stay (default: all)."""
        rows = torch.tensor(hypotheses, device=self.device)
        staying = None if texts is None else torch.tensor(texts, device=self.device)
        self._state = self._state.select(rows, staying)
