"""Vectors of whole words under a model that reads letters: each word is found by how it is spelled."""

import torch
from torch import Tensor, nn

BASE = 0x9E3779B97F4A7C15
"""An odd number of 64 bits whose powers tell the places of a word's letters apart."""
LETTERS = 256
"""Places that are told apart; no word of a table is as long."""
UNKNOWN = 0
"""The row of all words that have no vector: zeros; the others follow it."""


class HashedEmbedding(nn.Module):
    """A vector for each word of a list; any other has one of zeros.

    A GPU looks no strings up, so a word goes by one number, made of all its letters.
    """

    keys: Tensor
    powers: Tensor

    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(words + 1, width, padding_idx=UNKNOWN)
        self.register_buffer("keys", torch.zeros(words, dtype=torch.long))
        powers = [pow(BASE, place, 2**64) for place in range(LETTERS)]
        signed = [each - 2**64 if each >= 2**63 else each for each in powers]
        self.register_buffer("powers", torch.tensor(signed), persistent=False)

    def spelled(self, tokens: Tensor, word: Tensor, count: int) -> Tensor:
        """Return the numbers (count,) of words for tokens (N,); `word` (N,) says which each is of, in order."""
        places = torch.arange(tokens.numel(), device=tokens.device)
        begins = torch.diff(word, prepend=word.new_tensor([-1])) != 0
        place = places - torch.where(begins, places, 0).cummax(0).values
        letters = (tokens + 1) * self.powers[place.clamp_max(LETTERS - 1)]
        return letters.new_zeros(count).index_add(0, word, letters)

    @torch.no_grad()
    def fill(self, keys: Tensor, vectors: Tensor) -> None:
        """Take the vectors (V, D) of words by their numbers (V,)."""
        order = keys.argsort()
        self.keys.copy_(keys[order])
        self.table.weight[UNKNOWN] = 0.0
        self.table.weight[1:] = vectors[order]

    def forward(self, tokens: Tensor, word: Tensor, count: int) -> Tensor:
        """Return the vectors (count, D) of words for their tokens (N,)."""
        wanted = self.spelled(tokens, word, count)
        found = torch.searchsorted(self.keys, wanted).clamp_max(self.keys.numel() - 1)
        return self.table(torch.where(self.keys[found] == wanted, found + 1, UNKNOWN))
