"""A conditional masked model in few kernels: all words of all outputs at once, each product with all around it."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from regard.models.transformer.fused_step import feed_forward, linear
from regard.models.transformer.state import TransformerMemory
from regard.nn.attention.masks import as_bias, padding_mask


def encode_rows(encoder: Any, source: Tensor, token_mask: Tensor) -> Tensor:
    """Return what a pre-norm encoder makes of source tokens: (B, S, D)."""
    x = _embedded(encoder, source)
    bias = as_bias(padding_mask(token_mask), x.dtype)
    for block in encoder.blocks:
        x = feed_forward(block, _look_around(block, x, source.shape, bias))
    return encoder.norm(x).view(*source.shape, -1)


def fill_rows(decoder: Any, target: Tensor, memory: TransformerMemory, token_mask: Tensor) -> Tensor:
    """Return what a pre-norm decoder makes of target tokens, some of them masked: (R, T, D)."""
    x = _embedded(decoder, target)
    bias = as_bias(padding_mask(token_mask), x.dtype)
    assert memory.projected is not None and memory.view is not None and memory.view.bias is not None
    for block, (keys, values) in zip(decoder.blocks, memory.projected, strict=True):
        x = _look_around(block, x, target.shape, bias)
        cross = block.cross
        query = _heads(linear(x, cross.query, norm=block.around_cross.norm), target.shape, cross.head_width)
        x = linear(_seen(query, keys, values, memory.view.bias), cross.output, residual=x)
        x = feed_forward(block, x)
    return decoder.norm(x).view(*target.shape, -1)


def _embedded(stack: Any, tokens: Tensor) -> Tensor:
    """Return the vectors (R * T, D) of tokens (R, T)."""
    stack.embedding.positions.check(tokens.size(1))
    positions = torch.arange(tokens.size(1), device=tokens.device)
    found: Tensor = stack.embedding(tokens, positions)
    return found.flatten(0, 1).contiguous()


def _look_around(block: Any, x: Tensor, shape: torch.Size, bias: Tensor) -> Tensor:
    """Return rows (R * T, D) after self-attention, in which all positions see each other."""
    own = block.attention
    packed = _heads(linear(x, own.query_key_value, norm=block.around_attention.norm), shape, own.head_width)
    query, key, value = packed.chunk(3, dim=1)
    return linear(_seen(query, key, value, bias), own.output, residual=x)


def _heads(rows: Tensor, shape: torch.Size, width: int) -> Tensor:
    """Return (R, H, T, K) of rows (R * T, H * K)."""
    return rows.view(*shape, -1, width).transpose(1, 2)


def _seen(query: Tensor, keys: Tensor, values: Tensor, bias: Tensor) -> Tensor:
    """Return what heads see, as rows (R * T, H * K)."""
    seen = F.scaled_dot_product_attention(query, keys, values, bias)
    return seen.transpose(1, 2).flatten(0, 1).flatten(1)
