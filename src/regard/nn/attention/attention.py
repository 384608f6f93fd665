"""Multi-head attention (Vaswani et al., 2017, §3.2): fused kernels, or explicit weights for probes."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.nn.attention.kv_cache import Cache
from regard.nn.attention.masks import causal_mask
from regard.nn.attention.qkv import split_qkv
from regard.nn.attention.varlen import VarlenLayout
from regard.nn.kernels.availability import constant
from regard.nn.layers.linear import build_linear, can_fuse_around
from regard.nn.layers.positions import Rotation, rotate
from regard.nn.probes.probe import Probe

LONG = 256
"""Minimum sequence length in tokens for cuDNN's attention."""


@dataclass(frozen=True)
class View:
    """Masks, biases and position rotation of one layer's attention."""

    mask: Tensor | None = None  # True = may attend, broadcasts to (B, H, T, S)
    is_causal: bool = False
    bias: Tensor | None = None  # added to the scores, broadcasts to (B, H, T, S)
    rotation: Rotation | None = None
    lay: VarlenLayout | None = None
    """Boundaries of sequences packed in one row (varlen); mask and bias are then those of the padded sequences."""


def combined_mask(view: View, queries: int, keys: int, device: torch.device) -> Tensor | None:
    """Return the view's mask combined with the causal mask, None if nothing is masked."""
    if not view.is_causal or queries == 1:  # a single query is aligned with the last key and attends to all
        return view.mask
    causal = causal_mask(queries, keys, device)
    return causal if view.mask is None else causal & view.mask


def attention_weights(query: Tensor, key: Tensor, view: View) -> Tensor:
    """Return softmax(q kᵀ / √K + bias) (B, H, T, S), zero where masked."""
    key = for_heads(key, query.size(1))
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # (B, H, T, S)
    if view.bias is not None:
        scores = scores + view.bias
    mask = combined_mask(view, query.size(2), key.size(2), query.device)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(-1)


def for_heads(x: Tensor, heads: int) -> Tensor:
    """Return keys or values (B, H, S, K) for all heads: those of the groups (B, G, S, K), repeated."""
    return x if x.size(1) == heads else x.repeat_interleave(heads // x.size(1), dim=1)


def fused_attention(query: Tensor, key: Tensor, value: Tensor, view: View, dropout: float) -> Tensor:
    """Return attention_weights(query, key) @ value (B, H, T, K) without materializing the weights."""
    (_, H, T, _), (_, G, S, _) = query.shape, key.shape
    if G < H and T == 1:  # the heads of a group become queries of the same keys, which are not copied
        outputs = fused_attention(
            query.reshape(-1, G, H // G, query.size(3)), key, value, _of_groups(view, G), dropout
        )
        return outputs.reshape(query.shape)
    if _has_many_small_products(query) and not dropout:
        return attention_weights(query, key, view) @ for_heads(value, H)
    if view.is_causal and view.mask is None and view.bias is None and T == S:
        if G == H and not dropout and _is_for_cudnn(query):
            by_cudnn: Tensor = torch.ops.aten._scaled_dot_product_cudnn_attention(
                query, key, value, None, True, 0.0, True
            )[0]
            return by_cudnn
        return F.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True, enable_gqa=G < H)
    key, value = for_heads(key, H), for_heads(value, H)
    mask = combined_mask(view, T, S, query.device)
    if view.bias is not None:
        bias = view.bias.to(query.dtype)
        mask = bias if mask is None else bias.masked_fill(~mask, -math.inf)
    return F.scaled_dot_product_attention(query, key, value, mask, dropout_p=dropout)


def _is_for_cudnn(query: Tensor) -> bool:
    """Return True if cuDNN's kernels are worth their plans (0.5 s per shape): in training on long sequences.

    On a Hopper GPU they take three quarters of the time of torch's own; on older GPUs they are no faster.
    """
    is_long = query.size(2) >= LONG and query.requires_grad
    return is_long and query.is_cuda and query.dtype in (torch.bfloat16, torch.float16) and _has_better_cudnn()


@constant
def _has_better_cudnn() -> bool:
    version = torch.backends.cudnn.version() if torch.backends.cudnn.is_available() else None
    return version is not None and version >= 90_000 and torch.cuda.get_device_capability() >= (9, 0)


def _by_head(packed: Tensor, head_width: int) -> Tensor:
    """Return (B, heads, T, K) for (B, T, heads * K)."""
    return packed.unflatten(-1, (-1, head_width)).transpose(1, 2)


def _of_groups(view: View, groups: int) -> View:
    """Return the view of one query's heads (B, H, 1, S) as queries of groups (B, G, H / G, S)."""
    bias = view.bias
    if bias is not None and bias.size(-3) > 1:
        bias = bias.unflatten(-3, (groups, -1)).squeeze(-2)
    return View(view.mask, False, bias)


def _has_many_small_products(query: Tensor) -> bool:
    """Return True if the products are too small for the CPU's fused kernel, which runs once per head."""
    B, H, T, _ = query.shape
    return query.device.type == "cpu" and T <= 16 <= B and B * H >= 64 and not query.requires_grad


class Attention(nn.Module):
    """Common parts of self-attention and cross-attention: the attention itself, and the output projection."""

    def __init__(self, width: int, heads: int, head_width: int, dropout: float, has_bias: bool) -> None:
        super().__init__()
        self.head_count = heads
        self.head_width = head_width
        self.dropout = dropout
        self.output = build_linear(heads * head_width, width, has_bias)
        self.weights = Probe()  # (B, H, T, S)
        self.heads = Probe()  # (B, H, T, K), before the output projection: heads can be ablated here

    def split(self, packed: Tensor, parts: int) -> tuple[Tensor, ...]:
        """Split (B, T, parts * H * K) into `parts` tensors (B, H, T, K)."""
        return tuple(
            part.unflatten(-1, (self.head_count, self.head_width)).transpose(1, 2) for part in packed.chunk(parts, -1)
        )

    def attend(self, query: Tensor, key: Tensor, value: Tensor, view: View) -> Tensor:
        """Return the output of each head (B, H, T, K)."""
        dropout = self.dropout if self.training else 0.0
        if not self.weights.has_listener:
            return fused_attention(query, key, value, view, dropout)
        weights = self.weights(attention_weights(query, key, view))  # (B, H, T, S)
        return F.dropout(weights, dropout) @ for_heads(value, self.head_count)

    def join(self, outputs: Tensor) -> Tensor:
        """Return the concatenated heads, multiplied by W_O (B, T, D)."""
        if self.heads.has_listener:
            outputs = self.heads(outputs)
        return self.output(outputs.transpose(1, 2).flatten(2))


class SelfAttention(Attention):
    """Queries, keys and values from the same sequence, projected in one product.

    Grouped-query attention (Ainslie et al., 2023): `groups` is the number of key/value heads.
    """

    def __init__(
        self, width: int, heads: int, head_width: int, dropout: float, has_bias: bool, groups: int | None = None
    ) -> None:
        super().__init__(width, heads, head_width, dropout, has_bias)
        self.groups = groups or heads
        parts = [count * head_width for count in (heads, self.groups, self.groups)]
        self.query_key_value = build_linear(width, sum(parts), has_bias, parts)

    def forward(self, x: Tensor, view: View, cache: Cache | None = None) -> Tensor:
        """Return (B, T, D); a cache adds the keys and values of past positions, and stores the new ones."""
        layout = view.lay
        if layout is not None and not self._has_varlen_kernel(x, view, layout):
            return self.join(self._attend_padded(x, view, layout))
        query, key, value = self._project(x, view.rotation)
        if layout is not None:
            return self.join(layout.attend(query, key, value, self.dropout if self.training else 0.0))
        if cache is not None:
            key, value = cache.append(key, value)  # (B, G, S, K)
        return self.join(self.attend(query, key, value, view))

    def _project(self, x: Tensor, rotation: Rotation | None) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries (B, H, T, K), keys and values (B, G, T, K)."""
        H, G, K, layer = self.head_count, self.groups, self.head_width, self.query_key_value
        if rotation is None and G == H and self.training and can_fuse_around(layer, x):
            return split_qkv(F.linear(x, layer.weight, layer.bias.detach()), layer.bias, K)
        packed = layer(x)  # (B, T, (H + 2 G) * K)
        if rotation is None:  # split before the transpose, their gradients are concatenated in one copy
            query, key, value = (_by_head(part, K) for part in packed.split((H * K, G * K, G * K), dim=-1))
            return query, key, value
        query_key, value = _by_head(packed, K).split((H + G, G), dim=1)
        query, key = rotate(query_key, rotation).split((H, G), dim=1)
        return query, key, value

    def _has_varlen_kernel(self, x: Tensor, view: View, layout: VarlenLayout) -> bool:
        """Return True if the varlen kernel applies, which needs no padding."""
        return view.bias is None and not self.weights.has_listener and layout.has_kernel_for(x, self.head_width)

    def _attend_padded(self, x: Tensor, view: View, layout: VarlenLayout) -> Tensor:
        """Return the outputs of the heads (1, H, T, K) for packed sequences, padded for it."""
        H, G = self.head_count, self.groups
        by_head = _by_head(self.query_key_value(x), self.head_width)
        if view.rotation is not None:
            by_head = torch.cat((rotate(by_head[:, : H + G], view.rotation), by_head[:, H + G :]), dim=1)
        query, key, value = layout.padded(by_head).split((H, G, G), dim=1)  # (R, H or G, max_seqlen, K)
        return layout.packed(self.attend(query, key, value, View(view.mask, bias=view.bias)), x.size(1))


class CrossAttention(Attention):
    """Queries from the decoder, keys and values from the encoder's final states."""

    def __init__(self, width: int, heads: int, head_width: int, dropout: float, has_bias: bool) -> None:
        super().__init__(width, heads, head_width, dropout, has_bias)
        self.query = build_linear(width, heads * head_width, has_bias)
        self.key_value = build_linear(width, 2 * heads * head_width, has_bias, parts=2)

    def project(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Return the keys and values (B, H, S, K) of a memory (B, S, D)."""
        key, value = self.split(self.key_value(memory), 2)
        return key, value

    def forward(self, x: Tensor, key: Tensor, value: Tensor, view: View) -> Tensor:
        """Return (B, T, D)."""
        (query,) = self.split(self.query(x), 1)  # (B, H, T, K)
        return self.join(self.attend(query, key, value, view))
