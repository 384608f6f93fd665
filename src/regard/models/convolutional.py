"""The convolutional encoder-decoder ConvS2S (Gehring et al., 2017): gated convolutions, attention in every layer.

Unlike in the paper there is no weight normalization (Salimans & Kingma, 2016): with Adam it is not needed.
"""

import math
from dataclasses import dataclass, field
from typing import Literal

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn
from torch.nn import functional as F

from regard.models.base.embeddings import Sharing, build_tables
from regard.models.base.family import Family
from regard.models.base.joining import joined
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.nn.attention.alignment import AlignedAttention, Alignment
from regard.nn.attention.masks import as_bias, padding_mask
from regard.nn.layers.convolution import GatedConvolution
from regard.nn.layers.dropout import Dropout
from regard.nn.layers.embedding import TokenEmbedding, VocabularyHead
from regard.nn.layers.linear import build_linear
from regard.nn.layers.positions import build_positions

HALF = math.sqrt(0.5)
"""Scale of every residual connection, which preserves the variance of a sum of two."""


class ConvolutionalSettings(ModelSettings):
    """Architecture of a ConvS2S, without the vocabularies."""

    family: Literal["convolutional"] = "convolutional"
    width: int = Field(512, ge=1)
    """Width of the convolutions' outputs."""
    embedding_width: int | None = Field(None, ge=1)
    """Width of embeddings, attention queries and keys (default: width)."""
    kernel: int = Field(3, ge=1)
    """Kernel size of the convolutions, in positions."""
    encoder_layers: int = Field(6, ge=1, le=1024)
    """Number of convolutions of the encoder."""
    decoder_layers: int = Field(6, ge=1, le=1024)
    """Number of convolutions of the decoder, each with its own attention."""
    max_positions: int = Field(512, ge=1)
    """Maximum number of positions, which are learned."""
    embeddings: Sharing = "shared"
    """shared: one matrix for source, target and output embeddings; target: for target and output; separate: three."""
    dropout: float = Field(0.2, ge=0, lt=1)
    """Dropout on the input of every convolution and of the output projection."""
    embedding_dropout: float = Field(0.2, ge=0, lt=1)
    """Dropout on the sum of embeddings and positions."""

    @model_validator(mode="after")
    def _kernel_fits(self) -> "ConvolutionalSettings":
        if self.kernel % 2 == 0:
            raise ValueError(f"kernel: {self.kernel} is even, but convolutions are centered; choose an odd number.")
        return self

    @property
    def width_of_embedding(self) -> int:
        """The embedding width, with its default applied."""
        return self.embedding_width or self.width


@dataclass(frozen=True)
class ConvolutionalMemory:
    """The encoder output: keys and values of every attention."""

    keys: Tensor  # (B, S, E)
    values: Tensor  # (B, S, E)
    bias: Tensor  # (B, 1, S) -inf at padding
    scale: Tensor  # (B, 1, 1)

    def select(self, rows: Tensor) -> "ConvolutionalMemory":
        """Return the memory of some sentences."""
        parts = (self.keys, self.values, self.bias, self.scale)
        return ConvolutionalMemory(*(part.index_select(0, rows) for part in parts))

    def join(self, other: "ConvolutionalMemory") -> "ConvolutionalMemory":
        """Return the memory of these sentences and then those of another one."""
        keys, values = joined(self.keys, other.keys), joined(self.values, other.values)
        bias = joined(self.bias, other.bias, 2, -torch.inf)
        return ConvolutionalMemory(keys, values, bias, torch.cat((self.scale, other.scale)))


@dataclass
class ConvolutionalState:
    """The latest inputs of each convolution, one fewer than its kernel size; updated in place."""

    windows: list[Tensor] = field(default_factory=list)  # (R, kernel - 1, D) each
    length: int = 0
    """Number of decoded positions, of the rows that were there first."""
    late: Tensor | None = None  # (R, 1) the positions that each row has fewer; None: none

    def select(self, hypotheses: Tensor, sentences: Tensor | None = None) -> "ConvolutionalState":
        """Return the state of some hypotheses."""
        late = None if self.late is None else self.late[hypotheses]
        return ConvolutionalState([each.index_select(0, hypotheses) for each in self.windows], self.length, late)

    def join(self, other: "ConvolutionalState") -> "ConvolutionalState":
        """Return the state of these rows and then those of another batch."""
        windows = [torch.cat(pair) for pair in zip(self.windows, other.windows, strict=True)]
        lengths = torch.cat([state.length - state._late() for state in (self, other)])
        longest = int(lengths.max())
        return ConvolutionalState(windows, longest, longest - lengths)

    def _late(self) -> Tensor:
        rows = self.windows[0]
        return rows.new_zeros(len(rows), 1, dtype=torch.long) if self.late is None else self.late

    def positions(self, steps: int, device: torch.device) -> Tensor:
        """Return the positions (T,) of further tokens, or (R, T) where rows differ."""
        positions = torch.arange(self.length, self.length + steps, device=device)
        return positions if self.late is None else positions - self.late


class ConvEncoder(nn.Module):
    """Stack of centered convolutions over the source."""

    def __init__(self, settings: ConvolutionalSettings, embedding: TokenEmbedding) -> None:
        super().__init__()
        s = settings
        self.embedding, self.reach = embedding, s.kernel // 2
        self.inner = build_linear(s.width_of_embedding, s.width)
        self.blocks = nn.ModuleList(GatedConvolution(s.width, s.kernel, s.dropout) for _ in range(s.encoder_layers))
        self.outer = build_linear(s.width, s.width_of_embedding)
        self.dropout = Dropout(s.dropout)
        self.gradient_scale = 1 / (2 * s.decoder_layers)

    def forward(self, source: Tensor, token_mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys and values (B, S, E)."""
        self.embedding.positions.check(source.size(1))
        embedded = self.embedding(source, torch.arange(source.size(1), device=source.device))
        x = self.inner(embedded).to(embedded.dtype)  # under autocast too, residual sums stay in full precision
        for block in self.blocks:
            # Padding is zero, like the positions beyond the ends of a single sentence.
            seen = self.dropout(x).masked_fill(~token_mask[:, :, None], 0)
            x = (x + block(F.pad(seen, (0, 0, self.reach, self.reach)))) * HALF
        keys = self.outer(x)
        # Every decoder layer contributes two gradients to the encoder, which are scaled down (§3.4).
        if self.training:
            keys = keys * self.gradient_scale + keys.detach() * (1 - self.gradient_scale)
        return keys, (keys + embedded) * HALF


class ConvDecoderBlock(nn.Module):
    """A causal convolution, and cross-attention from each of its outputs to the source."""

    def __init__(self, settings: ConvolutionalSettings) -> None:
        super().__init__()
        s = settings
        self.convolution = GatedConvolution(s.width, s.kernel, s.dropout)
        self.query = build_linear(s.width, s.width_of_embedding)
        self.cross = AlignedAttention(Alignment())
        self.output = build_linear(s.width_of_embedding, s.width)
        self.dropout = Dropout(s.dropout)

    def forward(
        self, x: Tensor, embedded: Tensor, memory: ConvolutionalMemory, window: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return outputs (R, T, D), and the convolution's window for the next positions."""
        seen = torch.cat((window, self.dropout(x)), 1)
        h = self.convolution(seen)
        query = (self.query(h) + embedded) * HALF  # (R, T, E)
        together = query.view(
            memory.bias.size(0), -1, query.size(-1)
        )  # hypotheses are further queries to the same keys
        context = self.cross(together, memory.keys, memory.values, memory.bias) * memory.scale
        h = (h + self.output(context.view_as(query))) * HALF
        return (h + x) * HALF, seen[:, seen.size(1) - window.size(1) :]


class ConvDecoder(nn.Module):
    """Stack of causal convolutions over the target."""

    def __init__(self, settings: ConvolutionalSettings, embedding: TokenEmbedding) -> None:
        super().__init__()
        s = settings
        self.embedding, self.kernel = embedding, s.kernel
        self.inner = build_linear(s.width_of_embedding, s.width)
        self.blocks = nn.ModuleList(ConvDecoderBlock(s) for _ in range(s.decoder_layers))
        self.outer = build_linear(s.width, s.width_of_embedding)
        self.dropout = Dropout(s.dropout)

    def forward(self, target: Tensor, memory: ConvolutionalMemory, state: ConvolutionalState) -> Tensor:
        """Return hidden states (R, T, E) of target tokens (R, T)."""
        rows, steps = target.shape
        positions = state.positions(steps, target.device)
        late = 0 if state.late is None else int(state.late.min())
        self.embedding.positions.check(state.length - late + steps)
        embedded = self.embedding(target, positions)
        x = self.inner(embedded).to(embedded.dtype)
        if not state.windows:
            state.windows = [x.new_zeros(rows, self.kernel - 1, x.size(-1))] * len(self.blocks)
        for number, block in enumerate(self.blocks):
            x, state.windows[number] = block(x, embedded, memory, state.windows[number])
        state.length += steps
        return self.dropout(self.outer(x))


class Convolutional(nn.Module):
    """ConvS2S: encoder, decoder and output projection."""

    def __init__(self, settings: ConvolutionalSettings, vocabularies: Vocabularies) -> None:
        super().__init__()
        self.settings = settings
        source, target, output = build_tables(settings.embeddings, vocabularies, settings.width_of_embedding)
        self.encoder = ConvEncoder(settings, self._embedding(source))
        self.decoder = ConvDecoder(settings, self._embedding(target))
        self.head = VocabularyHead(output, has_bias=True)
        self.max_positions = settings.max_positions

    def _embedding(self, table: nn.Embedding) -> TokenEmbedding:
        s = self.settings
        positions = build_positions("learned", s.width_of_embedding, 1, 1, s.max_positions, False)
        return TokenEmbedding(table, positions, False, s.embedding_dropout)

    def encode(self, source: Tensor, token_mask: Tensor) -> ConvolutionalMemory:
        """Return the memory of source tokens (B, S)."""
        keys, values = self.encoder(source, token_mask)
        bias = as_bias(padding_mask(token_mask)[:, 0], torch.float32)  # (B, 1, S)
        # S · √(1/S) restores the variance, which a mean over many values lowers.
        scale = token_mask.sum(1).to(keys.dtype).sqrt()[:, None, None]
        return ConvolutionalMemory(keys, values, bias, scale)

    def start(self) -> ConvolutionalState:
        """Return the state before the first step."""
        return ConvolutionalState()

    def decode(self, target: Tensor, memory: ConvolutionalMemory, state: ConvolutionalState | None = None) -> Tensor:
        """Return hidden states (R, T, E) of target tokens (R, T)."""
        return self.decoder(target, memory, state or self.start())

    def project(self, hidden: Tensor) -> Tensor:
        """Return logits (..., V)."""
        return self.head(hidden)

    def forward(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Tensor:
        """Return logits (B, T, V) of every target position at once."""
        return self.project(self.decode(target, self.encode(source, source_mask)))


FAMILY = Family(ConvolutionalSettings, Convolutional, "seq2seq")
