"""The encoder-decoder Transformer (Vaswani et al., 2017), with the choices made since as settings."""

from collections.abc import Sequence
from typing import Literal, cast

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.models.base.embeddings import Sharing, build_tables
from regard.models.base.family import Family
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.base.tensor_parallel import BLOCKS
from regard.models.transformer.state import TransformerMemory, TransformerState
from regard.models.transformer.static_cache import StaticDecoderState, StaticTransformerState
from regard.nn.attention.attention import View
from regard.nn.attention.kv_cache import Cache, KeyValueCache
from regard.nn.attention.masks import as_bias, padding_mask
from regard.nn.blocks import BlockSettings, DecoderBlock, EncoderBlock, build_norm, shrink_branches
from regard.nn.layers.embedding import TokenEmbedding, VocabularyHead
from regard.nn.layers.positions import PositionKind, build_positions, check_widths


class EncoderDecoderSettings(BlockSettings, ModelSettings):
    """Architecture of an encoder and a decoder of attention blocks."""

    encoder_layers: int = Field(6, ge=1, le=1024)
    """Number of encoder blocks."""
    decoder_layers: int = Field(6, ge=1, le=1024)
    """Number of decoder blocks."""
    positions: PositionKind = "sinusoidal"
    """Position encoding: sinusoidal or learned vectors added, rotary, alibi, relative bias, raw index, or none."""
    max_positions: int = Field(512, ge=1)
    """Maximum number of positions, where they are learned."""
    embeddings: Sharing = "shared"
    """shared: one matrix for source, target and output embeddings; target: for target and output; separate: three."""
    has_output_bias: bool = False
    """Add a bias to the output projection."""
    scales_embeddings: bool = True
    """Multiply embeddings by the square root of the width."""
    embedding_dropout: float = Field(0.1, ge=0, lt=1)
    """Dropout on the sum of embeddings and positions."""

    @model_validator(mode="after")
    def _positions_fit(self) -> "EncoderDecoderSettings":
        check_widths(self.positions, self.width, self.width_of_head)
        return self


class TransformerSettings(EncoderDecoderSettings):
    """Architecture of a Transformer, without the vocabularies."""

    family: Literal["transformer"] = "transformer"


def position_embedding(settings: EncoderDecoderSettings, table: nn.Embedding, is_causal: bool) -> TokenEmbedding:
    """Return the embedding of tokens and positions of encoder or decoder."""
    s = settings
    positions = build_positions(s.positions, s.width, s.heads, s.width_of_head, s.max_positions, is_causal)
    return TokenEmbedding(table, positions, s.scales_embeddings, s.embedding_dropout)


class TransformerEncoder(nn.Module):
    """A stack of self-attention blocks over the source."""

    def __init__(self, settings: EncoderDecoderSettings, embedding: TokenEmbedding) -> None:
        super().__init__()
        self.embedding = embedding
        self.blocks = nn.ModuleList(EncoderBlock(settings) for _ in range(settings.encoder_layers))
        self.norm = nn.Identity() if settings.norm_order == "post" else build_norm(settings)
        if settings.norm_order == "post":
            shrink_branches(self.blocks)

    def forward(self, source: Tensor, token_mask: Tensor) -> Tensor:
        """Return hidden states (B, S, D) of source tokens (B, S)."""
        scheme = self.embedding.positions
        scheme.check(source.size(1))
        positions = torch.arange(source.size(1), device=source.device)
        view = View(padding_mask(token_mask), False, scheme.bias(positions, positions), scheme.rotation(positions))
        x = self.embedding(source, positions)
        for block in self.blocks:
            x = block(x, view)
        return self.norm(x)  # pre-norm blocks leave their last sum unnormalized


class DecoderStack(nn.Module):
    """A stack of blocks with self-attention and cross-attention."""

    def __init__(self, settings: EncoderDecoderSettings, embedding: TokenEmbedding) -> None:
        super().__init__()
        self.embedding = embedding
        self.blocks = nn.ModuleList(DecoderBlock(settings) for _ in range(settings.decoder_layers))
        self.norm = nn.Identity() if settings.norm_order == "post" else build_norm(settings)
        if settings.norm_order == "post":
            shrink_branches(self.blocks)

    def project(self, states: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Return the keys and values of the encoder's states (B, S, D) for each block."""
        return [cast(DecoderBlock, block).cross.project(states) for block in self.blocks]

    def sources(self, memory: TransformerMemory) -> Sequence[tuple[Tensor, Tensor] | Tensor]:
        """Return the keys and values of each block, or the encoder's states where the blocks project them."""
        return memory.projected or [memory.states] * len(self.blocks)


class TransformerDecoder(DecoderStack):
    """A causal decoder stack."""

    def forward(
        self, target: Tensor, memory: TransformerMemory, state: TransformerState | StaticDecoderState | None
    ) -> Tensor:
        """Return hidden states (R, T, D) of target tokens (R, T)."""
        scheme = self.embedding.positions
        rows, steps = target.shape
        if state is None:
            scheme.check(steps)
            # Padding follows the tokens of a row, so that the causal mask hides it.
            positions = torch.arange(steps, device=target.device)
            view = View(None, True, scheme.bias(positions, positions), scheme.rotation(positions))
            caches: list[Cache | None] = [None] * len(self.blocks)
        else:
            state.check(scheme, steps)
            # Hypotheses of one sentence are further queries to the same keys, not copies of them.
            sentences = memory.token_mask.size(0)
            target = target.view(sentences, -1)  # (B, hypotheses * T)
            positions, view = state.view(rows // sentences, steps, scheme, memory.states)
            caches = [*state.caches]
        memory_view = memory.view or View(padding_mask(memory.token_mask))
        x = self.embedding(target, positions)
        for block, key_value, cache in zip(self.blocks, self.sources(memory), caches, strict=True):
            x = block(x, view, key_value, memory_view, cache)
        return self.norm(x).view(rows, steps, -1)


class Transformer(nn.Module):
    """The Transformer: encoder, decoder and output projection."""

    def __init__(self, settings: TransformerSettings, vocabularies: Vocabularies) -> None:
        super().__init__()
        self.settings = settings
        source, target, output = build_tables(settings.embeddings, vocabularies, settings.width)
        self.encoder = TransformerEncoder(settings, position_embedding(settings, source, is_causal=False))
        self.decoder = TransformerDecoder(settings, position_embedding(settings, target, is_causal=True))
        self.head = VocabularyHead(output, settings.has_output_bias)
        self.max_positions = self.decoder.embedding.positions.limit

    def encode(self, source: Tensor, token_mask: Tensor) -> TransformerMemory:
        """Return the memory of source tokens (B, S)."""
        return TransformerMemory(self.encoder(source, token_mask), token_mask)

    def start(self) -> TransformerState:
        """Return the state before the first step."""
        return TransformerState([KeyValueCache() for _ in self.decoder.blocks])

    def decode(self, target: Tensor, memory: TransformerMemory, state: TransformerState | None = None) -> Tensor:
        """Return hidden states (R, T, D) of target tokens (R, T)."""
        if state is not None and memory.projected is None:
            # Once for each sentence instead of once a step.
            projected = self.decoder.project(memory.states)
            memory.projected = [(key.contiguous(), value.contiguous()) for key, value in projected]
            has_padding = not bool(memory.token_mask.all())
            bias = as_bias(padding_mask(memory.token_mask), memory.states.dtype) if has_padding else None
            memory.view = View(bias=bias)
        return self.decoder(target, memory, state)

    def static_state(self, sentences: int, length: int, hypotheses: int, steps: int) -> StaticTransformerState:
        """Return a static state for a number of sentences, source tokens, hypotheses a sentence, and steps."""
        layers = self.settings.decoder_layers
        parts = self.encoder, self.decoder, self.head
        return StaticTransformerState(*parts, self.settings, layers, sentences, length, hypotheses, steps)

    def project(self, hidden: Tensor) -> Tensor:
        """Return logits (..., V)."""
        return self.head(hidden)

    def forward(self, source: Tensor, source_mask: Tensor, target: Tensor) -> Tensor:
        """Return logits (B, T, V) of every target position at once."""
        return self.project(self.decode(target, self.encode(source, source_mask)))


FAMILY = Family(TransformerSettings, Transformer, "seq2seq", tensor_parallel=BLOCKS)
