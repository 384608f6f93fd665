"""Multi-head attention (Vaswani et al., 2017, §3.2): fused while nobody looks, visible weights when someone does."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.nn.attention.kv_cache import Cache
from regard.nn.attention.masks import causal_mask
from regard.nn.attention.qkv import split_qkv
from regard.nn.attention.varlen import VarlenLayout
from regard.nn.kernels.availability import can_fuse
from regard.nn.layers.linear import build_linear
from regard.nn.layers.positions import Rotation, rotate
from regard.nn.probes.probe import Probe

LONG = 256
"""Tokens of a window from which on cuDNN may attend to it."""


@dataclass(frozen=True)
class View:
    """What the queries of a layer may look at, and how they tell positions apart."""

    mask: Tensor | None = None  # True = may look, broadcasts to (B, H, T, S)
    is_causal: bool = False
    bias: Tensor | None = None  # added to the scores, broadcasts to (B, H, T, S)
    rotation: Rotation | None = None
    lay: VarlenLayout | None = None
    """Where sequences lie end to end in one row; mask and bias then are those of sequences taken apart."""


def combined_mask(view: View, queries: int, keys: int, device: torch.device) -> Tensor | None:
    """Return the one mask a view amounts to, None where everything may be seen."""
    if not view.is_causal or queries == 1:  # a single query stands at the last key and may see all
        return view.mask
    causal = causal_mask(queries, keys, device)
    return causal if view.mask is None else causal & view.mask


def attention_weights(query: Tensor, key: Tensor, view: View) -> Tensor:
    """Return softmax(q kᵀ / √K + bias) (B, H, T, S), zero where the mask forbids a look."""
    key = for_heads(key, query.size(1))
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # (B, H, T, S)
    if view.bias is not None:
        scores = scores + view.bias
    mask = combined_mask(view, query.size(2), key.size(2), query.device)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return scores.softmax(-1)


def for_heads(x: Tensor, heads: int) -> Tensor:
    """Return keys or values (B, H, S, K) of each head: those of a group of heads (B, G, S, K), repeated."""
    return x if x.size(1) == heads else x.repeat_interleave(heads // x.size(1), dim=1)


def fused_attention(query: Tensor, key: Tensor, value: Tensor, view: View, dropout: float) -> Tensor:
    """Return what attention_weights(query, key) @ value would, without the weights ever existing."""
    (_, H, T, _), (_, G, S, _) = query.shape, key.shape
    if G < H and T == 1:  # the heads of a group are further queries to the same keys, not copies of them
        seen = fused_attention(query.reshape(-1, G, H // G, query.size(3)), key, value, _of_groups(view, G), dropout)
        return seen.reshape(query.shape)
    if _has_many_small_products(query) and not dropout:
        return attention_weights(query, key, view) @ for_heads(value, H)
    if view.is_causal and view.mask is None and view.bias is None and T == S:
        if G == H and not dropout and _is_for_cudnn(query):
            found: Tensor = torch.ops.aten._scaled_dot_product_cudnn_attention(
                query, key, value, None, True, 0.0, True
            )[0]
            return found
        return F.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True, enable_gqa=G < H)
    key, value = for_heads(key, H), for_heads(value, H)
    mask = combined_mask(view, T, S, query.device)
    if view.bias is not None:
        bias = view.bias.to(query.dtype)
        mask = bias if mask is None else bias.masked_fill(~mask, -math.inf)
    return F.scaled_dot_product_attention(query, key, value, mask, dropout_p=dropout)


def _is_for_cudnn(query: Tensor) -> bool:
    """Tell whether cuDNN's kernels are worth their plans, half a second for each shape: to learn from long windows.

    On a Hopper GPU they take three quarters of the time of torch's own; older ones have no better kernels in there.
    """
    is_long = query.size(2) >= LONG and query.requires_grad
    return is_long and query.is_cuda and query.dtype in (torch.bfloat16, torch.float16) and _has_better_cudnn()


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]  # a compiled block would fall apart here
def _has_better_cudnn() -> bool:
    version = torch.backends.cudnn.version() if torch.backends.cudnn.is_available() else None
    return version is not None and version >= 90_000 and torch.cuda.get_device_capability() >= (9, 0)


def _by_head(packed: Tensor, head_width: int) -> Tensor:
    """Return (B, heads, T, K) of (B, T, heads * K)."""
    return packed.unflatten(-1, (-1, head_width)).transpose(1, 2)


def _of_groups(view: View, groups: int) -> View:
    """Return what one query sees with its heads (B, H, 1, S) laid out as queries of groups (B, G, H / G, S)."""
    bias = view.bias
    if bias is not None and bias.size(-3) > 1:
        bias = bias.unflatten(-3, (groups, -1)).squeeze(-2)
    return View(view.mask, False, bias)


def _has_many_small_products(query: Tensor) -> bool:
    """Tell whether the fused kernel of a CPU, which takes heads one by one, has more trouble than work."""
    B, H, T, _ = query.shape
    return query.device.type == "cpu" and T <= 16 <= B and B * H >= 64 and not query.requires_grad


class Attention(nn.Module):
    """What self-attention and cross-attention have in common: looking, and bringing the heads together."""

    def __init__(self, width: int, heads: int, head_width: int, dropout: float, has_bias: bool) -> None:
        super().__init__()
        self.head_count = heads
        self.head_width = head_width
        self.dropout = dropout
        self.output = build_linear(heads * head_width, width, has_bias)
        self.weights = Probe()  # (B, H, T, S)
        self.heads = Probe()  # (B, H, T, K), before they are brought together: a head can be switched off here

    def split(self, packed: Tensor, parts: int) -> tuple[Tensor, ...]:
        """Split (B, T, parts * H * K) into `parts` tensors (B, H, T, K)."""
        return tuple(
            part.unflatten(-1, (self.head_count, self.head_width)).transpose(1, 2) for part in packed.chunk(parts, -1)
        )

    def look(self, query: Tensor, key: Tensor, value: Tensor, view: View) -> Tensor:
        """Return what each head sees (B, H, T, K)."""
        dropout = self.dropout if self.training else 0.0
        if not self.weights.is_heard:
            return fused_attention(query, key, value, view, dropout)
        weights = self.weights(attention_weights(query, key, view))  # (B, H, T, S)
        return F.dropout(weights, dropout) @ for_heads(value, self.head_count)

    def join(self, seen: Tensor) -> Tensor:
        """Return the heads side by side, multiplied by W_O (B, T, D)."""
        if self.heads.is_heard:
            seen = self.heads(seen)
        return self.output(seen.transpose(1, 2).flatten(2))


class SelfAttention(Attention):
    """Queries, keys and values from the same sequence, projected in one product.

    Several heads may share the keys and values of one (Ainslie et al., 2023): `groups` says how many there are.
    """

    def __init__(
        self, width: int, heads: int, head_width: int, dropout: float, has_bias: bool, groups: int | None = None
    ) -> None:
        super().__init__(width, heads, head_width, dropout, has_bias)
        self.groups = groups or heads
        parts = [count * head_width for count in (heads, self.groups, self.groups)]
        self.query_key_value = build_linear(width, sum(parts), has_bias, parts)

    def forward(self, x: Tensor, view: View, cache: Cache | None = None) -> Tensor:
        """Return (B, T, D); a cache adds the positions seen before, and keeps the new ones."""
        lay = view.lay
        if lay is not None and not self._can_stay(x, view, lay):
            return self.join(self._look_apart(x, view, lay))
        query, key, value = self._parts(x, view.rotation)
        if lay is not None:
            return self.join(lay.attend(query, key, value, self.dropout if self.training else 0.0))
        if cache is not None:
            key, value = cache.append(key, value)  # (B, G, S, K)
        return self.join(self.look(query, key, value, view))

    def _parts(self, x: Tensor, rotation: Rotation | None) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries (B, H, T, K), keys and values (B, G, T, K)."""
        H, G, K, layer = self.head_count, self.groups, self.head_width, self.query_key_value
        if rotation is None and G == H and self.training and layer.bias is not None and can_fuse(x):
            return split_qkv(F.linear(x, layer.weight, layer.bias.detach()), layer.bias, K)
        packed = layer(x)  # (B, T, (H + 2 G) * K)
        if rotation is None:  # taken apart as the product left them, their gradients come together in one copy
            query, key, value = (_by_head(part, K) for part in packed.split((H * K, G * K, G * K), dim=-1))
            return query, key, value
        query_key, value = _by_head(packed, K).split((H + G, G), dim=1)
        query, key = rotate(query_key, rotation).split((H, G), dim=1)
        return query, key, value

    def _can_stay(self, x: Tensor, view: View, lay: VarlenLayout) -> bool:
        """Tell whether sequences that lie end to end can be looked at where they lie."""
        return view.bias is None and not self.weights.is_heard and lay.has_kernel_for(x, self.head_width)

    def _look_apart(self, x: Tensor, view: View, lay: VarlenLayout) -> Tensor:
        """Return what the heads see (1, H, T, K) of sequences that lie end to end, taken apart for it."""
        H, G = self.head_count, self.groups
        by_head = _by_head(self.query_key_value(x), self.head_width)
        if view.rotation is not None:
            by_head = torch.cat((rotate(by_head[:, : H + G], view.rotation), by_head[:, H + G :]), dim=1)
        query, key, value = lay.apart(by_head).split((H, G, G), dim=1)  # (R, H or G, longest, K)
        return lay.together(self.look(query, key, value, View(view.mask, bias=view.bias)), x.size(1))


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
        return self.join(self.look(query, key, value, view))
