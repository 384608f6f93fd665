"""What a language model has read of several texts, and how far back it looks."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from regard.models.base.protocols import CausalLM, DecoderState


def window_start(length: int, window: int | None) -> int:
    """Return the first token that is looked back on after so many of a text.

    A window that is full (of `window` tokens) makes room for the next token by keeping its newest half, that token
    included, so that it moves once in a while and not at every step. A long prompt is read as if it had been said
    token by token: where the window begins depends on the length alone.
    """
    if window is None or length <= window:
        return 0
    step = window + 1 - max(1, window // 2)
    return -(-(length - window) // step) * step


class DecoderOnlyStepper:
    """The state of a language model that reads texts side by side, later as many hypotheses for each."""

    def __init__(self, model: CausalLM, padding: int) -> None:
        self.model, self.pad_id = model, padding
        self.device = model.head.weight.device
        self._state: DecoderState = model.start()

    def begin(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Read rows of different lengths from nothing on, and return the logits (R, V) of what follows each."""
        longest = max(map(len, rows))
        tokens = np.full((len(rows), longest), self.pad_id, np.int64)
        for place, row in enumerate(rows):
            tokens[place, longest - len(row) :] = row
        lengths = np.array([len(row) for row in rows])
        token_mask = np.arange(longest) >= longest - lengths[:, None]
        self._state = self.model.start()
        return self._read(tokens, None if token_mask.all() else torch.from_numpy(token_mask).to(self.device))

    def step(self, tokens: Sequence[int]) -> Tensor:
        """Read one more token of each row, and return the logits (R, V) of what follows it."""
        return self._read(np.array(tokens, np.int64)[:, None], None)

    def _read(self, tokens: np.typing.NDArray[np.int64], token_mask: Tensor | None) -> Tensor:
        hidden = self.model.hidden_states(torch.from_numpy(tokens).to(self.device), self._state, token_mask)
        return self.model.project(hidden[:, -1]).float()

    def select(self, hypotheses: Sequence[int], texts: Sequence[int] | None = None) -> None:
        """Go on with these rows, in this order, as many for each text; `texts` are those that stay, unset: all."""
        rows = torch.tensor(hypotheses, device=self.device)
        staying = None if texts is None else torch.tensor(texts, device=self.device)
        self._state = self._state.select(rows, staying)
