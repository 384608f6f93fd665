"""word2vec: input vectors of words and output vectors of their contexts (Mikolov et al., 2013)."""

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from regard.models.base.family import Family
from regard.models.base.settings import ModelSettings, Vocabularies


class WordVectorSettings(ModelSettings):
    """Architecture of word2vec: algorithm and width."""

    family: str = "word-vectors"
    """Name of the model family."""
    algorithm: Literal["skip-gram", "cbow"] = "skip-gram"
    """skip-gram: predict each context word from a word; cbow: predict a word from the mean of its context."""
    width: int = Field(100, ge=1)
    """Width of the vectors."""


class WordVectorTables(nn.Module):
    """The input and the output vector of each word; the dot product of two is a logit."""

    def __init__(self, settings: WordVectorSettings, vocabularies: Vocabularies) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabularies.target, settings.width)
        self.contexts = nn.Embedding(vocabularies.target, settings.width)
        nn.init.uniform_(self.words.weight, -0.5 / settings.width, 0.5 / settings.width)
        nn.init.zeros_(self.contexts.weight)

    def forward(self, centers: Tensor, contexts: Tensor) -> Tensor:
        """Return the logits (B, K) that context words (B, K) occur near centers (B,)."""
        return self.score(self.words(centers), contexts)

    def mean(self, around: Tensor, token_mask: Tensor) -> Tensor:
        """Return the mean vector (B, D) of context words (B, S); `token_mask` is False at padding."""
        weights = token_mask / token_mask.sum(1, keepdim=True).clamp(min=1)
        return torch.einsum("bs,bsd->bd", weights, self.words(around))

    def score(self, vectors: Tensor, contexts: Tensor) -> Tensor:
        """Return the logits (B, K) of context words (B, K) given vectors (B, D)."""
        return torch.einsum("bd,bkd->bk", vectors, self.contexts(contexts))


FAMILY = Family(WordVectorSettings, WordVectorTables, "word-vectors")
