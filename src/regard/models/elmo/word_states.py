"""Padded states of words, a row for each sequence, with the mapping from tokens to words."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True)
class WordRows:
    """States of words, with padding after the words of a row."""

    states: Tensor  # (R, T, D)
    token_mask: Tensor  # (R, T)
    word: Tensor  # (N,) the index of each token's word among all R * T

    def of(self, states: Tensor) -> "WordRows":
        """Return the same words with other states."""
        return replace(self, states=states)

    def by_token(self) -> Tensor:
        """Return the states for tokens (N, D): all tokens of a word have the same."""
        return self.states.flatten(0, 1).index_select(0, self.word)

    def pooled(self, pooling: str) -> Tensor:
        """Return one vector for each row (R, D): the mean of its words or, for max, their maximum."""
        token_mask = self.token_mask[:, :, None]
        if pooling == "max":
            # The lowest finite number, since a row of padding alone has no maximum.
            return self.states.masked_fill(~token_mask, torch.finfo(self.states.dtype).min).amax(1)
        return (self.states * token_mask).sum(1) / token_mask.sum(1).clamp_min(1)


def in_rows(hidden: Tensor, cu_seqlens: Tensor) -> WordRows:
    """Return the states (N, D) of concatenated sequences as padded rows, every token a word."""
    sizes = cu_seqlens.diff().long()
    row = torch.repeat_interleave(torch.arange(sizes.numel(), device=hidden.device), sizes)
    column = torch.arange(hidden.size(0), device=hidden.device) - cu_seqlens.long()[row]
    token_mask = torch.arange(int(sizes.max()), device=hidden.device) < sizes[:, None]
    word = row * token_mask.size(1) + column
    states = hidden.new_zeros(token_mask.numel(), hidden.size(1)).index_copy(0, word, hidden)
    return WordRows(states.unflatten(0, token_mask.shape), token_mask, word)
