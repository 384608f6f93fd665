"""Recurrent language models (Mikolov et al., 2010; Sundermeyer et al., 2012)."""

from itertools import pairwise
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from regard.models.base.family import Family
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.recurrent.decoder import RecurrentState
from regard.nn.layers.dropout import Dropout
from regard.nn.layers.embedding import TokenEmbedding, VocabularyHead, build_table
from regard.nn.layers.linear import build_linear
from regard.nn.layers.positions import Positions
from regard.nn.layers.recurrent import CellKind, LayerState, RecurrentLayer


class RecurrentLmSettings(ModelSettings):
    """Architecture of a recurrent language model, without the vocabulary."""

    family: Literal["recurrent-lm"] = "recurrent-lm"
    width: int = Field(512, ge=1)
    """Width of the states."""
    embedding_width: int | None = Field(None, ge=1)
    """Width of the embeddings (default: width)."""
    cell: CellKind = "lstm"
    """Recurrent cell: plain RNN, LSTM or GRU."""
    layers: int = Field(1, ge=1, le=1024)
    """Number of stacked layers."""
    embeddings: Literal["shared", "separate"] = "shared"
    """shared: one matrix for input embeddings and output projection; separate: two."""
    dropout: float = Field(0.2, ge=0, lt=1)
    """Dropout on the output of every layer."""
    embedding_dropout: float = Field(0.2, ge=0, lt=1)
    """Dropout on embeddings."""

    @property
    def width_of_embedding(self) -> int:
        """The embedding width, with its default applied."""
        return self.embedding_width or self.width


class RecurrentLanguageModel(nn.Module):
    """Stacked recurrent layers from left to right, and the output projection."""

    max_positions: int | None = None

    def __init__(self, settings: RecurrentLmSettings, vocabularies: Vocabularies) -> None:
        super().__init__()
        self.settings = s = settings
        D, E, is_shared = s.width, s.width_of_embedding, s.embeddings == "shared"
        table = build_table(vocabularies.target, E)
        self.embedding = TokenEmbedding(table, Positions(), True, s.embedding_dropout)
        self.layers = nn.ModuleList(RecurrentLayer(s.cell, D if number else E, D) for number in range(s.layers))
        self.dropout = Dropout(s.dropout)
        # A shared embedding matrix needs states of its own width.
        self.narrow = build_linear(D, E) if is_shared and D != E else None
        self.head = VocabularyHead(table if is_shared else build_table(vocabularies.target, D), has_bias=True)

    def start(self) -> RecurrentState:
        """Return the state before the first token."""
        return RecurrentState()

    def hidden_states(
        self, tokens: Tensor, state: RecurrentState | None = None, token_mask: Tensor | None = None
    ) -> Tensor:
        """Return hidden states (R, T, ·) of tokens (R, T); `token_mask` is False at padding before them."""
        before = None if state is None else state.layers
        assert token_mask is None or before is None, "padding comes first"
        x = self.embedding(tokens, tokens)  # (R, T, E)
        h, layers = self._run(x, before) if token_mask is None else self._run_after_padding(x, token_mask)
        if state is not None:
            # Truncated backpropagation: the graph of all earlier windows would grow without bound.
            state.layers = [tuple(each.detach() for each in layer) for layer in layers]
        return h if self.narrow is None else self.narrow(h)

    def _run(self, x: Tensor, before: list[LayerState] | None) -> tuple[Tensor, list[LayerState]]:
        """Return the last layer's output (R, T, D), and the states after the last step."""
        after: list[LayerState] = []
        for number, layer in enumerate(self.layers):
            x, state = layer(x, None if before is None else before[number])
            x = self.dropout(x)
            after.append(state)
        return x, after

    def _run_after_padding(self, x: Tensor, token_mask: Tensor) -> tuple[Tensor, list[LayerState]]:
        """Return the result of `_run` with each row starting at its first token; fused between two row starts."""
        padding = (~token_mask).sum(1)
        outputs: list[Tensor] = []
        layers: list[LayerState] = []
        for begin, end in pairwise(sorted({0, *padding.tolist(), x.size(1)})):
            h, layers = self._run(x[:, begin:end], layers or None)
            outputs.append(h)
            is_padding = (padding >= end)[:, None]
            layers = [tuple(each.masked_fill(is_padding, 0) for each in layer) for layer in layers]
        return torch.cat(outputs, 1), layers

    def project(self, hidden: Tensor) -> Tensor:
        """Return logits (..., V)."""
        return self.head(hidden)

    def forward(self, tokens: Tensor, token_mask: Tensor | None = None) -> Tensor:
        """Return logits (B, T, V) of every position at once."""
        return self.project(self.hidden_states(tokens, None, token_mask))


FAMILY = Family(RecurrentLmSettings, RecurrentLanguageModel, "causal-lm")
