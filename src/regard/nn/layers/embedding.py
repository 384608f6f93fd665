"""Token embeddings with positions, and the vocabulary head that computes logits."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from regard.nn.layers.dropout import Dropout
from regard.nn.layers.linear import as_product, product
from regard.nn.layers.positions import Positions


class TokenEmbedding(nn.Module):
    """Scaled token embeddings plus positions, with dropout on the sum."""

    is_half_precision = False
    """Keep the residual stream in autocast's half precision instead of fp32."""

    def __init__(self, table: nn.Embedding, positions: Positions, is_scaled: bool, dropout: float) -> None:
        super().__init__()
        self.table = table
        self.positions = positions
        self.scale = math.sqrt(table.embedding_dim) if is_scaled else 1.0
        self.dropout = Dropout(dropout)

    def forward(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Return (B, T, D) for tokens (B, T) at positions (T,) or (B, T)."""
        x = self.dropout(self.positions.embed(self.table(tokens) * self.scale, positions))
        return as_product(x) if self.is_half_precision else x


def build_table(vocabulary: int, width: int) -> nn.Embedding:
    """Return an embedding matrix whose vectors have an expected norm of 1."""
    table = nn.Embedding(vocabulary, width)
    nn.init.normal_(table.weight, std=width**-0.5)
    return table


class VocabularyHead(nn.Module):
    """Logits over the vocabulary; the weight may be tied to an embedding matrix (Press & Wolf, 2017)."""

    packed: Tensor | None = None  # the weight in oneDNN's layout (see `nn.inference.prepacked`)
    single: Tensor | None = None  # the weight for products of a single row
    int8: Callable[[Tensor], Tensor] | None = None  # the product with the quantized weight (see `nn.inference.int8`)

    def __init__(self, table: nn.Embedding, has_bias: bool = False) -> None:
        super().__init__()
        self.weight = table.weight
        self.bias = nn.Parameter(torch.zeros(table.num_embeddings)) if has_bias else None

    def forward(self, hidden: Tensor) -> Tensor:
        """Return logits (..., V) of hidden states (..., D)."""
        if self.int8 is not None:
            return self.int8(hidden)
        return product(hidden, self.weight, self.bias, self.packed, self.single)
