"""Fused pass of a conditional masked language model: norm, projection, activation and residual in one kernel each."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from regard.models.transformer.fused_step import feed_forward, linear
from regard.models.transformer.state import TransformerMemory
from regard.nn.attention.masks import as_bias, padding_mask


def encode_rows(encoder: Any, source: Tensor, token_mask: Tensor) -> Tensor:
    """Return a pre-norm encoder's hidden states (B, S, D) of source tokens (B, S)."""
    x = _embedded(encoder, source)
    bias = as_bias(padding_mask(token_mask), x.dtype)
    for block in encoder.blocks:
        x = feed_forward(block, _self_attention(block, x, source.shape, bias))
    return encoder.norm(x).view(*source.shape, -1)


def decode_masked_rows(decoder: Any, target: Tensor, memory: TransformerMemory, token_mask: Tensor) -> Tensor:
    """Return a pre-norm decoder's hidden states (R, T, D) of target tokens (R, T), some of them masked."""
    x = _embedded(decoder, target)
    bias = as_bias(padding_mask(token_mask), x.dtype)
    assert memory.projected is not None and memory.view is not None and memory.view.bias is not None
    for block, (keys, values) in zip(decoder.blocks, memory.projected, strict=True):
        x = _self_attention(block, x, target.shape, bias)
        cross = block.cross
        query = _heads(linear(x, cross.query, norm=block.around_cross.norm), target.shape, cross.head_width)
        x = linear(_attend(query, keys, values, memory.view.bias), cross.output, residual=x)
        x = feed_forward(block, x)
    return decoder.norm(x).view(*target.shape, -1)


def _embedded(stack: Any, tokens: Tensor) -> Tensor:
    """Return the embeddings (R * T, D) of tokens (R, T)."""
    stack.embedding.positions.check(tokens.size(1))
    positions = torch.arange(tokens.size(1), device=tokens.device)
    embedded: Tensor = stack.embedding(tokens, positions)
    return embedded.flatten(0, 1).contiguous()


def _self_attention(block: Any, x: Tensor, shape: torch.Size, bias: Tensor) -> Tensor:
    """Return rows (R * T, D) after bidirectional self-attention."""
    own = block.attention
    packed = _heads(linear(x, own.query_key_value, norm=block.around_attention.norm), shape, own.head_width)
    query, key, value = packed.chunk(3, dim=1)
    return linear(_attend(query, key, value, bias), own.output, residual=x)


def _heads(rows: Tensor, shape: torch.Size, width: int) -> Tensor:
    """Return (R, H, T, K) of rows (R * T, H * K)."""
    return rows.view(*shape, -1, width).transpose(1, 2)


def _attend(query: Tensor, keys: Tensor, values: Tensor, bias: Tensor) -> Tensor:
    """Return the attention outputs as rows (R * T, H * K)."""
    attended = F.scaled_dot_product_attention(query, keys, values, bias)
    return attended.transpose(1, 2).flatten(0, 1).flatten(1)
