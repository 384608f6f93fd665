"""A table of word vectors and nothing else: what stands under a reader where nothing in context has been learned."""

from typing import Literal

from pydantic import Field
from torch import Tensor, nn

from regard.models.base.protocols import ModelSettings, Vocabularies
from regard.nn.layers.dropout import Dropout
from regard.nn.layers.embedding import VocabularyHead, build_table


class WordTableSettings(ModelSettings):
    """Everything that shapes a table but the words."""

    family: Literal["words"] = "words"
    width: int = Field(100, ge=1)
    """Width of a word's vector."""
    dropout: float = Field(0.3, ge=0, lt=1)
    """Dropout on the vectors."""


class WordEmbeddings(nn.Module):
    """A vector for each word, wherever it stands."""

    max_positions: int | None = None

    def __init__(self, settings: WordTableSettings, vocabularies: Vocabularies) -> None:
        super().__init__()
        self.settings = settings
        self.table = build_table(vocabularies.target, settings.width)
        self.head = VocabularyHead(self.table)
        self.dropout = Dropout(settings.dropout)

    def hidden_states_varlen(
        self, tokens: Tensor, segments: Tensor, positions: Tensor, bounds: Tensor, longest: int
    ) -> Tensor:
        """Return the vectors (N, D) of words."""
        return self.dropout(self.table(tokens))

    def hidden_states(
        self, tokens: Tensor, segments: Tensor | None = None, token_mask: Tensor | None = None
    ) -> Tensor:
        """Return the vectors (R, T, D) of words."""
        return self.dropout(self.table(tokens))

    def pool(self, first: Tensor) -> Tensor:
        """Return a vector as it is."""
        return first
