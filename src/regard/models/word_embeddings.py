"""Word embeddings without context: the body of models that have no pretrained encoder."""

from typing import Literal

from pydantic import Field
from torch import Tensor, nn

from regard.models.base.family import Family
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.nn.layers.dropout import Dropout
from regard.nn.layers.embedding import VocabularyHead, build_table


class WordEmbeddingSettings(ModelSettings):
    """Architecture of word embeddings, without the vocabulary."""

    family: Literal["words"] = "words"
    width: int = Field(100, ge=1)
    """Width of the embeddings."""
    dropout: float = Field(0.3, ge=0, lt=1)
    """Dropout on the embeddings."""


class WordEmbeddings(nn.Module):
    """A vector for each word, independent of its context."""

    max_positions: int | None = None

    def __init__(self, settings: WordEmbeddingSettings, vocabularies: Vocabularies) -> None:
        super().__init__()
        self.settings = settings
        self.table = build_table(vocabularies.target, settings.width)
        self.head = VocabularyHead(self.table)
        self.dropout = Dropout(settings.dropout)

    def hidden_states_varlen(
        self, tokens: Tensor, segments: Tensor, positions: Tensor, cu_seqlens: Tensor, max_seqlen: int
    ) -> Tensor:
        """Return the vectors (N, D) of tokens (N,)."""
        return self.dropout(self.table(tokens))

    def hidden_states(
        self, tokens: Tensor, segments: Tensor | None = None, token_mask: Tensor | None = None
    ) -> Tensor:
        """Return the vectors (R, T, D) of tokens (R, T)."""
        return self.dropout(self.table(tokens))

    def pool(self, first: Tensor) -> Tensor:
        """Return the vectors unchanged: there is no pooler."""
        return first


FAMILY = Family(WordEmbeddingSettings, WordEmbeddings, "embeddings")
