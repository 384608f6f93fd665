"""Recurrent encoder-decoders, connected by a summary vector or by attention at every step."""

from typing import Literal

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.models.base.embeddings import Sharing, build_tables
from regard.models.base.family import Family
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.recurrent.decoder import DecoderSettings, RecurrentDecoder, RecurrentMemory, RecurrentState
from regard.models.recurrent.decoder_loop import ScheduledSampling
from regard.nn.attention.masks import as_bias, padding_mask
from regard.nn.layers.dropout import Dropout
from regard.nn.layers.embedding import TokenEmbedding, VocabularyHead
from regard.nn.layers.linear import build_linear
from regard.nn.layers.positions import Positions
from regard.nn.layers.recurrent import BidirectionalLayer, ForwardLayer


class RecurrentSettings(DecoderSettings, ModelSettings):
    """Architecture of a recurrent encoder-decoder, without the vocabularies."""

    family: Literal["recurrent"] = "recurrent"
    encoder_layers: int = Field(1, ge=1, le=1024)
    """Number of stacked encoder layers."""
    bidirectional: Literal["no", "concatenate", "sum", "layer"] = "concatenate"
    """Combination of a bidirectional encoder's two states: concatenate, sum or a linear layer; no: forward only."""
    summary: Literal["last", "learned"] = "last"
    """Source summary that initializes the decoder. last: the final state; learned: a learned weighting of all."""
    embeddings: Sharing = "shared"
    """shared: one matrix for source, target and output embeddings; target: for target and output; separate: three."""
    embedding_dropout: float = Field(0.2, ge=0, lt=1)
    """Dropout on embeddings."""

    @model_validator(mode="after")
    def _directions_fit(self) -> "RecurrentSettings":
        if self.bidirectional == "concatenate" and self.width % 2:
            raise ValueError(
                f"width: {self.width} is an odd number, but each direction computes half of it; choose an even one."
            )
        return self


class RecurrentEncoder(nn.Module):
    """Stacked recurrent layers over the source, and a summary vector."""

    def __init__(self, settings: RecurrentSettings, embedding: TokenEmbedding) -> None:
        super().__init__()
        s = settings
        self.embedding = embedding
        widths = [s.width_of_embedding, *[s.width] * (s.encoder_layers - 1)]
        self.layers = nn.ModuleList(
            ForwardLayer(s.cell, width, s.width)
            if s.bidirectional == "no"
            else BidirectionalLayer(s.cell, width, s.width, s.bidirectional)
            for width in widths
        )
        self.dropout = Dropout(s.dropout)
        self.worth = None
        if s.summary == "learned":
            self.worth = nn.Sequential(
                build_linear(s.width, s.width), nn.Tanh(), build_linear(s.width, 1, has_bias=False)
            )

    def forward(self, source: Tensor, token_mask: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
        """Return the states (B, S, D) and their summary (B, D)."""
        x, last = self.embedding(source, source), None
        for layer in self.layers:
            x, last = layer(x, token_mask)
            x = self.dropout(x)
        if self.worth is None:
            assert last is not None
            return x, self.dropout(last)
        weights = (self.worth(x).transpose(1, 2) + bias).softmax(-1)  # (B, 1, S)
        return x, (weights.to(x.dtype) @ x)[:, 0]


class RecurrentTranslator(nn.Module):
    """A recurrent encoder, decoder and output projection."""

    def __init__(self, settings: RecurrentSettings, vocabularies: Vocabularies) -> None:
        super().__init__()
        self.settings = settings
        source, target, output = build_tables(settings.embeddings, vocabularies, settings.width_of_embedding)
        embed = lambda table: TokenEmbedding(table, Positions(), True, settings.embedding_dropout)
        self.encoder = RecurrentEncoder(settings, embed(source))
        self.head = VocabularyHead(output, has_bias=True)
        self.decoder = RecurrentDecoder(settings, embed(target))
        self.max_positions = settings.max_positions if settings.alignment == "location" else None
        self.register_buffer("progress", torch.zeros(()), persistent=False)

    def encode(self, source: Tensor, token_mask: Tensor) -> RecurrentMemory:
        """Return the memory of source tokens (B, S)."""
        bias = as_bias(padding_mask(token_mask)[:, 0], torch.float32)  # (B, 1, S)
        states, summary = self.encoder(source, token_mask, bias)
        memory = RecurrentMemory(states, token_mask, summary, bias)
        self.decoder.prepare(memory)
        return memory

    def advance(self, progress: float) -> None:
        """Store the fraction of training that is done, for the schedule of teacher forcing."""
        self.get_buffer("progress").fill_(progress)

    def start(self) -> RecurrentState:
        """Return the state before the first step."""
        return RecurrentState()

    def decode(self, target: Tensor, memory: RecurrentMemory, state: RecurrentState | None = None) -> Tensor:
        """Return hidden states (R, T, E) of target tokens (R, T)."""
        if state is None and self.decoder.uses_scheduled_sampling:
            first, last = self.settings.teacher_forcing, self.settings.final_teacher_forcing
            fraction = first + ((first if last is None else last) - first) * self.get_buffer("progress")
            return self.decoder(target, memory, self.start(), ScheduledSampling(fraction, self.head))
        return self.decoder(target, memory, state or self.start())

    def project(self, hidden: Tensor) -> Tensor:
        """Return logits (..., V)."""
        return self.head(hidden)

    def forward(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Tensor:
        """Return logits (B, T, V) of every target position."""
        return self.project(self.decode(target, self.encode(source, source_mask)))


FAMILY = Family(RecurrentSettings, RecurrentTranslator, "seq2seq")
