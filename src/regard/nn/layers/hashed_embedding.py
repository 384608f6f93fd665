"""Hashed word embeddings for character models: each word is looked up by a hash of its characters."""

import torch
from torch import Tensor, nn

BASE = 0x9E3779B97F4A7C15
"""Base of the polynomial hash: an odd number of 64 bits, whose power is the weight of a character's position."""
MAX_CHARACTERS = 256
"""Positions with distinct powers; no word of a table is longer."""
UNKNOWN = 0
"""The row of words without a vector, all zeros; other words follow it."""


class HashedEmbedding(nn.Module):
    """Embeddings of a fixed list of words; any other word has a zero vector.

    A GPU cannot look up strings, so a word's key is one integer, a hash of all its characters.
    """

    keys: Tensor
    powers: Tensor

    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(words + 1, width, padding_idx=UNKNOWN)
        self.register_buffer("keys", torch.zeros(words, dtype=torch.long))
        powers = [pow(BASE, position, 2**64) for position in range(MAX_CHARACTERS)]
        signed = [each - 2**64 if each >= 2**63 else each for each in powers]
        self.register_buffer("powers", torch.tensor(signed), persistent=False)

    def spelled(self, tokens: Tensor, word: Tensor, count: int) -> Tensor:
        """Return the keys (count,) of words for tokens (N,); `word` (N,) is the index of each token's word."""
        indices = torch.arange(tokens.numel(), device=tokens.device)
        begins = torch.diff(word, prepend=word.new_tensor([-1])) != 0
        position = indices - torch.where(begins, indices, 0).cummax(0).values
        terms = (tokens + 1) * self.powers[position.clamp_max(MAX_CHARACTERS - 1)]
        return terms.new_zeros(count).index_add(0, word, terms)

    @torch.no_grad()
    def fill(self, keys: Tensor, vectors: Tensor) -> None:
        """Set the vectors (V, D) of words with the given keys (V,)."""
        order = keys.argsort()
        self.keys.copy_(keys[order])
        self.table.weight[UNKNOWN] = 0.0
        self.table.weight[1:] = vectors[order]

    def forward(self, tokens: Tensor, word: Tensor, count: int) -> Tensor:
        """Return the vectors (count, D) of the words of tokens (N,)."""
        keys = self.spelled(tokens, word, count)
        rows = torch.searchsorted(self.keys, keys).clamp_max(self.keys.numel() - 1)
        return self.table(torch.where(self.keys[rows] == keys, rows + 1, UNKNOWN))
