"""Fused decoding step of a pre-norm Transformer: norm, projection, activation and residual in one kernel each."""

from typing import Any

import torch
from torch import Tensor, nn

from regard.models.transformer.state import TransformerMemory
from regard.nn.attention.attention import View
from regard.nn.blocks import BlockSettings
from regard.nn.kernels.availability import has_triton
from regard.nn.layers.dtensor import is_whole_on_gpu
from regard.nn.layers.positions import rotate

FEW = 8
"""Number of rows up to which the fused bf16 kernel is faster than matrix products of torch."""


def can_fuse(settings: BlockSettings, weight: Tensor, rows: int) -> bool:
    """Return True if the fused step supports a number of rows: common settings, fp32 or few rows, on a GPU."""
    kinds = settings.norm, settings.norm_order, settings.groups
    is_common = kinds == ("layer", "pre", settings.heads) and settings.activation in ("relu", "gelu-tanh")
    is_exact = weight.dtype == torch.float32 or (weight.dtype == torch.bfloat16 and rows <= FEW)
    return is_common and is_whole_on_gpu(weight) and is_exact and has_triton()


def decode_rows(decoder: Any, head: Any, tokens: Tensor, memory: TransformerMemory, state: Any) -> Tensor:
    """Return the logits (R, V) after tokens (R,), one further step of every hypothesis."""
    from regard.nn.kernels.decode_attention import step_attention  # Triton takes a second to load

    B = memory.token_mask.size(0)
    scheme = decoder.embedding.positions
    positions, view = state.view(len(tokens) // B, 1, scheme, memory.states)
    x = decoder.embedding(tokens.view(B, -1), positions).flatten(0, 1).contiguous()  # (R, D)
    assert memory.projected is not None and memory.view is not None and memory.view.bias is not None
    for block, (keys, values), cache in zip(decoder.blocks, memory.projected, state.caches, strict=True):
        cross = block.cross
        x = self_attention(block, x, view, cache, state.cursor)
        query = _heads(linear(x, cross.query, norm=block.around_cross.norm), B, cross.head_width)
        x = linear(step_attention(query, keys, values, memory.view.bias), cross.output, residual=x)
        x = feed_forward(block, x)
    return linear(x, head, norm=decoder.norm, is_wide=True)


def self_attention(block: Any, x: Tensor, view: View, cache: Any, used: Tensor) -> Tensor:
    """Return rows (R, D) after self-attention to the first `used` slots; writes their keys and values."""
    from regard.nn.kernels.decode_attention import step_attention

    own, sentences = block.attention, cache.keys.size(0)
    packed = linear(x, own.query_key_value, norm=block.around_attention.norm)  # (R, 3 H K)
    query, key, value = _heads(packed, sentences, own.head_width).chunk(3, dim=1)  # (B, H, hypotheses, K)
    if view.rotation is not None:
        query, key = rotate(query, view.rotation), rotate(key, view.rotation)
    assert view.bias is not None
    attended = step_attention(query, cache.keys, cache.values, view.bias, (key, value), cache.write_slots, used)
    return linear(attended, own.output, residual=x)


def feed_forward(block: Any, x: Tensor) -> Tensor:
    """Return rows (R, D) after the feed-forward sublayer."""
    layer = block.feed_forward
    inner = linear(x, layer.inner, norm=block.around_feed_forward.norm, activation=layer.activation)
    return linear(inner, layer.outer, residual=x)


def linear(rows: Tensor, layer: nn.Module, **fused: Any) -> Tensor:
    """Return the output of a linear layer for rows, with fused norm, activation or residual."""
    from regard.nn.kernels.fused_linear import fused_linear  # Triton takes a second to load

    weight, bias = layer.weight, layer.bias
    assert isinstance(weight, Tensor) and (bias is None or isinstance(bias, Tensor))
    return fused_linear(rows, weight, bias, **fused)


def _heads(rows: Tensor, sentences: int, width: int) -> Tensor:
    """Return (B, H, hypotheses, K) of rows (B * hypotheses, H * K)."""
    return rows.view(sentences, -1, rows.size(1) // width, width).transpose(1, 2)
