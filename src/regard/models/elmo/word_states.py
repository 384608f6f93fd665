"""States of words, a row each sequence, and the way back to the tokens they were made from."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True)
class WordRows:
    """What is known of each word, padding behind the words of a row."""

    states: Tensor  # (R, T, D)
    token_mask: Tensor  # (R, T)
    word: Tensor  # (N,) the place of each token's word among all R * T

    def of(self, states: Tensor) -> "WordRows":
        """Return other states of the same words."""
        return replace(self, states=states)

    def by_token(self) -> Tensor:
        """Return the states token by token (N, D): all tokens of a word know the same."""
        return self.states.flatten(0, 1).index_select(0, self.word)

    def pooled(self, way: str) -> Tensor:
        """Return one vector (R, D) a row: the mean of its words, or their largest values."""
        token_mask = self.token_mask[:, :, None]
        if way == "max":
            # A row that only fills up a shape has no words, and no largest ones.
            return self.states.masked_fill(~token_mask, torch.finfo(self.states.dtype).min).amax(1)
        return (self.states * token_mask).sum(1) / token_mask.sum(1).clamp_min(1)


def in_rows(hidden: Tensor, bounds: Tensor) -> WordRows:
    """Return the states (N, D) of sequences that lie end to end, a row each."""
    sizes = bounds.diff().long()
    row = torch.repeat_interleave(torch.arange(sizes.numel(), device=hidden.device), sizes)
    column = torch.arange(hidden.size(0), device=hidden.device) - bounds.long()[row]
    token_mask = torch.arange(int(sizes.max()), device=hidden.device) < sizes[:, None]
    word = row * token_mask.size(1) + column
    states = hidden.new_zeros(token_mask.numel(), hidden.size(1)).index_copy(0, word, hidden)
    return WordRows(states.unflatten(0, token_mask.shape), token_mask, word)
