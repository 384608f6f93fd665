"""Tokens to vectors that know their positions, and vectors back to scores over the vocabulary."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from regard.nn.layers.dropout import Dropout
from regard.nn.layers.linear import as_product, product
from regard.nn.layers.positions import Positions


class TokenEmbedding(nn.Module):
    """A vector for each token, scaled, with its position mixed in, and dropout on the sum."""

    is_narrow = False
    """Whether what passes from layer to layer is as narrow as what is multiplied under autocast, or stays fp32."""

    def __init__(self, table: nn.Embedding, positions: Positions, is_scaled: bool, dropout: float) -> None:
        super().__init__()
        self.table = table
        self.positions = positions
        self.scale = math.sqrt(table.embedding_dim) if is_scaled else 1.0
        self.dropout = Dropout(dropout)

    def forward(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Return (B, T, D) for tokens (B, T) at positions (T,) or (B, T)."""
        x = self.dropout(self.positions.embed(self.table(tokens) * self.scale, positions))
        return as_product(x) if self.is_narrow else x


def build_table(vocabulary: int, width: int) -> nn.Embedding:
    """Return a table of vectors whose expected length is one."""
    table = nn.Embedding(vocabulary, width)
    nn.init.normal_(table.weight, std=width**-0.5)
    return table


class VocabularyHead(nn.Module):
    """Scores over the vocabulary; the weight may be an embedding table's own (Press & Wolf, 2017)."""

    packed: Tensor | None = None  # the weight in another layout (see `nn.packed`)
    single: Tensor | None = None  # and that for single rows
    int8: Callable[[Tensor], Tensor] | None = None  # the product with the rounded weight (see `nn.int8`)

    def __init__(self, table: nn.Embedding, has_bias: bool = False) -> None:
        super().__init__()
        self.weight = table.weight
        self.bias = nn.Parameter(torch.zeros(table.num_embeddings)) if has_bias else None

    def forward(self, hidden: Tensor) -> Tensor:
        """Return logits (..., V) of hidden states (..., D)."""
        if self.int8 is not None:
            return self.int8(hidden)
        return product(hidden, self.weight, self.bias, self.packed, self.single)
