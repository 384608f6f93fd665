"""A decoding step of a pre-norm Transformer in few kernels: its blocks' sums, each product with all around it."""

from importlib.util import find_spec
from typing import Any

from torch import Tensor, nn

from regard.models.transformer_state import TransformerMemory
from regard.nn import BlockSettings
from regard.nn.positions import rotate


def can_fuse(settings: BlockSettings, weight: Tensor) -> bool:
    """Tell whether a model's steps can be taken this way: one setting of each kind, fp32, on a CUDA device."""
    kinds = settings.norm, settings.norm_order, settings.activation
    if kinds != ("layer", "pre", "relu") or settings.groups != settings.heads:
        return False
    return weight.is_cuda and weight.element_size() == 4 and find_spec("triton") is not None


def decode_rows(decoder: Any, head: Any, tokens: Tensor, memory: TransformerMemory, state: Any) -> Tensor:
    """Return the logits (R, V) after tokens (R,), one further step of every hypothesis."""
    from regard.nn.rows_kernel import rows_linear  # the compiler takes a second to load
    from regard.nn.step_attention import step_attention

    def linear(rows: Tensor, layer: nn.Linear, **around: Any) -> Tensor:
        return rows_linear(rows, layer.weight, layer.bias, **around)

    B = memory.real.size(0)
    scheme = decoder.embedding.positions
    positions, view = state.view(len(tokens) // B, 1, scheme, memory.states)
    x = decoder.embedding(tokens.view(B, -1), positions).flatten(0, 1).contiguous()  # (R, D)
    assert memory.projected is not None and memory.view is not None
    assert view.bias is not None and memory.view.bias is not None
    for block, (keys, values), cache in zip(decoder.blocks, memory.projected, state.caches, strict=True):
        own, cross = block.attention, block.cross
        packed = linear(x, own.query_key_value, norm=block.around_attention.norm)  # (R, 3 H K)
        query, key, value = _heads(packed, B, own.head_width).chunk(3, dim=1)  # (B, H, hypotheses, K)
        if view.rotation is not None:
            query, key = rotate(query, view.rotation), rotate(key, view.rotation)
        seen = step_attention(query, cache.keys, cache.values, view.bias, (key, value), cache.places, state.cursor)
        x = linear(seen, own.output, residual=x)
        query = _heads(linear(x, cross.query, norm=block.around_cross.norm), B, cross.head_width)
        x = linear(step_attention(query, keys, values, memory.view.bias), cross.output, residual=x)
        inner = linear(x, block.feed_forward.inner, norm=block.around_feed_forward.norm, activation="relu")
        x = linear(inner, block.feed_forward.outer, residual=x)
    return rows_linear(x, head.weight, head.bias, norm=decoder.norm)


def _heads(rows: Tensor, sentences: int, width: int) -> Tensor:
    """Return (B, H, hypotheses, K) of rows (B * hypotheses, H * K)."""
    return rows.view(sentences, -1, rows.size(1) // width, width).transpose(1, 2)
