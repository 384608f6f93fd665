"""The conditional masked language model (Ghazvininejad et al., 2019), which predicts masked target tokens.

Its encoder also predicts the target length; its decoder attends to all target tokens, left and right of the masked
ones. The decoding algorithm, mask-predict, is in `decoding`.
"""

from dataclasses import replace
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from regard.models.base.embeddings import build_tables
from regard.models.base.family import Family
from regard.models.base.settings import Vocabularies
from regard.models.base.tensor_parallel import BLOCKS
from regard.models.transformer.fused_step import can_fuse
from regard.models.transformer.mask_predict_fused import decode_masked_rows, encode_rows
from regard.models.transformer.model import (
    DecoderStack,
    EncoderDecoderSettings,
    TransformerEncoder,
    position_embedding,
)
from regard.models.transformer.state import TransformerMemory
from regard.nn.attention.attention import View
from regard.nn.attention.masks import as_bias, padding_mask
from regard.nn.layers.embedding import VocabularyHead
from regard.nn.layers.linear import build_linear


class MaskPredictSettings(EncoderDecoderSettings):
    """Architecture of a conditional masked language model, without the vocabularies."""

    family: Literal["mask-predict"] = "mask-predict"
    positions: Literal["sinusoidal", "learned", "index"] = "sinusoidal"
    """Position encoding, added to the embeddings: masked tokens differ by nothing else."""
    max_length_offset: int = Field(64, ge=1)
    """Maximum difference between target and source length, in tokens."""


class MaskedDecoder(DecoderStack):
    """A decoder stack with bidirectional self-attention."""

    def forward(self, target: Tensor, memory: TransformerMemory, token_mask: Tensor) -> Tensor:
        """Return hidden states (R, T, D) of target tokens (R, T)."""
        self.embedding.positions.check(target.size(1))
        positions = torch.arange(target.size(1), device=target.device)
        x = self.embedding(target, positions)
        # Once a pass instead of once a layer.
        view = View(bias=as_bias(padding_mask(token_mask), x.dtype))
        memory_view = memory.view or View(bias=as_bias(padding_mask(memory.token_mask), x.dtype))
        for block, key_value in zip(self.blocks, self.sources(memory), strict=True):
            x = block(x, view, key_value, memory_view)
        return self.norm(x)


class MaskPredict(nn.Module):
    """An encoder with a length classifier, and a decoder that predicts masked target tokens."""

    def __init__(self, settings: MaskPredictSettings, vocabularies: Vocabularies) -> None:
        super().__init__()
        self.settings = settings
        source, target, output = build_tables(settings.embeddings, vocabularies, settings.width)
        self.encoder = TransformerEncoder(settings, position_embedding(settings, source, is_causal=False))
        self.decoder = MaskedDecoder(settings, position_embedding(settings, target, is_causal=False))
        self.head = VocabularyHead(output, settings.has_output_bias)
        self.max_length_offset = settings.max_length_offset
        self.length = build_linear(settings.width, 2 * settings.max_length_offset + 1)
        self.max_positions = self.decoder.embedding.positions.limit

    def encode(self, source: Tensor, token_mask: Tensor, is_alone: bool = False) -> TransformerMemory:
        """Return the memory of source tokens (B, S)."""
        if is_alone and self._can_fuse(source):
            return TransformerMemory(encode_rows(self.encoder, source, token_mask), token_mask)
        return TransformerMemory(self.encoder(source, token_mask), token_mask)

    def length_scores(self, memory: TransformerMemory) -> Tensor:
        """Return the logits (B, C) of the target length minus the source length.

        They are computed from the encoder's state of the source's EOS.
        """
        B, S, _ = memory.states.shape
        last = torch.arange(B, device=memory.token_mask.device) * S + (memory.token_mask.sum(1) - 1).clamp_min(0)
        return self.length(memory.states.flatten(0, 1).index_select(0, last))

    def ready(self, memory: TransformerMemory) -> TransformerMemory:
        """Return the memory with everything precomputed that is the same in all iterations."""
        projected = [(key.contiguous(), value.contiguous()) for key, value in self.decoder.project(memory.states)]
        view = View(bias=as_bias(padding_mask(memory.token_mask), memory.states.dtype))
        return replace(memory, projected=projected, view=view)

    def decode(self, target: Tensor, memory: TransformerMemory, token_mask: Tensor, is_alone: bool = False) -> Tensor:
        """Return hidden states (R, T, D) of target tokens (R, T), some of them masked."""
        if is_alone and self._can_fuse(target):
            return decode_masked_rows(self.decoder, target, memory, token_mask)
        return self.decoder(target, memory, token_mask)

    def _can_fuse(self, tokens: Tensor) -> bool:
        return can_fuse(self.settings, self.head.weight, tokens.numel())

    def project(self, hidden: Tensor) -> Tensor:
        """Return logits (..., V)."""
        return self.head(hidden)

    def forward(self, source: Tensor, source_mask: Tensor, target: Tensor, target_mask: Tensor) -> Tensor:
        """Return logits (B, T, V) of every target position."""
        return self.project(self.decode(target, self.encode(source, source_mask), target_mask))


FAMILY = Family(MaskPredictSettings, MaskPredict, "conditional-masked-lm", tensor_parallel=BLOCKS)
