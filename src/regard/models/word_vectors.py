"""Two tables of vectors: of words, and of the words around them (Mikolov et al., 2013)."""

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from regard.models.base.protocols import ModelSettings, Vocabularies


class WordVectorSettings(ModelSettings):
    """The shape of a table of word vectors, and what is told from what."""

    family: str = "word-vectors"
    """Which model it is: the name of a family."""
    algorithm: Literal["skip-gram", "cbow"] = "skip-gram"
    """A word tells each of those around it, or the mean of those around it tells the word."""
    width: int = Field(100, ge=1)
    """Numbers of a vector."""


class WordVectorTables(nn.Module):
    """The vector of each word, and the vector by which it is known to others; their product is a logit."""

    def __init__(self, settings: WordVectorSettings, vocabularies: Vocabularies) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabularies.target, settings.width)
        self.contexts = nn.Embedding(vocabularies.target, settings.width)
        nn.init.uniform_(self.words.weight, -0.5 / settings.width, 0.5 / settings.width)
        nn.init.zeros_(self.contexts.weight)

    def forward(self, centers: Tensor, contexts: Tensor) -> Tensor:
        """Return the logits (B, K) that words (B, K) stand near others (B,): the products of their vectors."""
        return self.score(self.words(centers), contexts)

    def mean(self, around: Tensor, token_mask: Tensor) -> Tensor:
        """Return the mean vector (B, D) of the words (B, S) around a place; `real` is False where there is none."""
        shares = token_mask / token_mask.sum(1, keepdim=True).clamp(min=1)
        return torch.einsum("bs,bsd->bd", shares, self.words(around))

    def score(self, vectors: Tensor, contexts: Tensor) -> Tensor:
        """Return the logits (B, K) that words (B, K) belong to vectors (B, D)."""
        return torch.einsum("bd,bkd->bk", vectors, self.contexts(contexts))
