"""Transformer encoder and decoder blocks: sublayers with residual connections and a norm before or after."""

from collections.abc import Callable
from functools import partial
from typing import Literal

import torch
from pydantic import Field, model_validator
from torch import Tensor, nn
from torch.nn import functional as F

from regard.config.settings import Settings
from regard.nn.attention.attention import Attention, CrossAttention, SelfAttention, View
from regard.nn.attention.kv_cache import Cache
from regard.nn.layers.bias_gelu import gelu_of_sum
from regard.nn.layers.dropout import Dropout
from regard.nn.layers.linear import as_product, build_linear, can_fuse_around
from regard.nn.layers.residual_norm import residual_and_norm

Activation = Literal["relu", "gelu", "gelu-tanh", "silu", "swiglu"]
NormOrder = Literal["post", "pre", "res-post"]

GELUS = ("gelu", "gelu-tanh")
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu-tanh": partial(F.gelu, approximate="tanh"),
    "silu": F.silu,
}


class BlockSettings(Settings):
    """The size and structure of one block."""

    width: int = Field(512, ge=1)
    """Model width (d_model)."""
    heads: int = Field(8, ge=1)
    """Number of attention heads."""
    head_width: int | None = Field(None, ge=1)
    """Width of each head (default: width / heads)."""
    key_value_heads: int | None = Field(None, ge=1)
    """Number of key/value heads in self-attention, for grouped-query attention (default: heads)."""
    feed_forward_width: int = Field(2048, ge=1)
    """Inner width of the feed-forward sublayer."""
    activation: Activation = "relu"
    """Activation of the feed-forward sublayer; gelu-tanh: GPT-2's tanh approximation of gelu; swiglu: gated silu."""
    norm: Literal["layer", "rms"] = "layer"
    """layer: LayerNorm (mean and variance); rms: RMSNorm."""
    norm_order: NormOrder = "post"
    """post: norm(x + f(x)), as in the paper; pre: x + f(norm(x)); res-post: x + norm(f(x))."""
    norm_epsilon: float = Field(1e-5, gt=0)
    """Added to the variance in a norm, against division by zero."""
    has_bias: bool = True
    """Add biases to linear layers."""
    dropout: float = Field(0.1, ge=0, lt=1)
    """Dropout on the output of every sublayer."""
    attention_dropout: float = Field(0.0, ge=0, lt=1)
    """Dropout on attention weights (disables the fused kernel on a CPU)."""
    feed_forward_dropout: float = Field(0.0, ge=0, lt=1)
    """Dropout after the activation."""

    @model_validator(mode="after")
    def _heads_fit(self) -> "BlockSettings":
        if self.head_width is None and self.width % self.heads:
            raise ValueError(
                f"heads: {self.heads} does not divide width {self.width}; choose another, or set head_width."
            )
        if self.heads % self.groups:
            raise ValueError(
                f"key_value_heads: {self.groups} does not divide heads {self.heads}; each must serve as many of them."
            )
        return self

    @property
    def width_of_head(self) -> int:
        """The head width, default resolved."""
        return self.head_width or self.width // self.heads

    @property
    def groups(self) -> int:
        """The number of key/value heads, default resolved."""
        return self.key_value_heads or self.heads


def build_norm(settings: BlockSettings) -> nn.Module:
    """Return a norm over the features of each position."""
    kind = nn.LayerNorm if settings.norm == "layer" else nn.RMSNorm
    return kind(settings.width, eps=settings.norm_epsilon)


class Residual(nn.Module):
    """A residual connection x + f(x), with dropout on f(x) and the norm in the given order."""

    is_half_precision = False
    """Keep normalized sums in autocast's half precision instead of fp32."""

    def __init__(self, settings: BlockSettings) -> None:
        super().__init__()
        self.order = settings.norm_order
        self.norm = build_norm(settings)
        self.dropout = Dropout(settings.dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Return (B, T, D)."""
        # Calling a no-op module takes a microsecond: too much in a decoding step of a thousand.
        dropout = self.dropout if self.training else lambda y: y
        if self.order == "pre":
            x, normed = residual_and_norm(self.norm, x)
            return x + dropout(sublayer(normed))
        if self.order == "res-post":
            return x + dropout(self._normed(sublayer(x)))
        return self._normed(x + dropout(sublayer(x)))

    def _normed(self, x: Tensor) -> Tensor:
        return as_product(self.norm(x)) if self.is_half_precision else self.norm(x)


class FeedForward(nn.Module):
    """Position-wise feed-forward sublayer: two linear layers with an activation between; SwiGLU gates one half."""

    def __init__(self, settings: BlockSettings) -> None:
        super().__init__()
        self.activation = settings.activation
        halves = 2 if settings.activation == "swiglu" else 1
        self.inner = build_linear(settings.width, halves * settings.feed_forward_width, settings.has_bias, halves)
        self.outer = build_linear(settings.feed_forward_width, settings.width, settings.has_bias)
        self.dropout = Dropout(settings.feed_forward_dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, T, D)."""
        x = self._activated(x)
        return self.outer(self.dropout(x) if self.training else x)

    def _activated(self, x: Tensor) -> Tensor:
        """Return the activations (B, T, F) between the linear layers."""
        if self.activation in GELUS and self.training and can_fuse_around(self.inner, x):
            product = F.linear(x, self.inner.weight)
            return gelu_of_sum(product, self.inner.bias, self.activation == "gelu-tanh")
        x = self.inner(x)  # (B, T, F), or both halves
        if self.activation == "swiglu":
            gate, value = x.chunk(2, dim=-1)
            return F.silu(gate) * value
        return ACTIVATIONS[self.activation](x)


def _attention_shape(settings: BlockSettings) -> tuple[int, int, int, float, bool]:
    s = settings
    return s.width, s.heads, s.width_of_head, s.attention_dropout, s.has_bias


class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, settings: BlockSettings) -> None:
        super().__init__()
        self.attention = SelfAttention(*_attention_shape(settings), settings.groups)
        self.around_attention = Residual(settings)
        self.feed_forward = FeedForward(settings)
        self.around_feed_forward = Residual(settings)

    def forward(self, x: Tensor, view: View, cache: Cache | None = None) -> Tensor:
        """Return (B, T, D); a cache adds the keys and values of past positions, and stores the new ones."""
        x = self.around_attention(x, lambda y: self.attention(y, view, cache))
        return self.around_feed_forward(x, self.feed_forward)


class DecoderBlock(nn.Module):
    """Masked self-attention, cross-attention, then feed-forward."""

    def __init__(self, settings: BlockSettings) -> None:
        super().__init__()
        self.attention = SelfAttention(*_attention_shape(settings), settings.groups)
        self.around_attention = Residual(settings)
        self.cross = CrossAttention(*_attention_shape(settings))
        self.around_cross = Residual(settings)
        self.feed_forward = FeedForward(settings)
        self.around_feed_forward = Residual(settings)

    def forward(
        self,
        x: Tensor,
        view: View,
        memory: tuple[Tensor, Tensor] | Tensor,
        memory_view: View,
        cache: Cache | None = None,
    ) -> Tensor:
        """Return (B, T, D); `memory` holds the keys and values of `cross.project`, or the encoder's states."""
        x = self.around_attention(x, lambda y: self.attention(y, view, cache))
        key_value = self.cross.project(memory) if isinstance(memory, Tensor) else memory
        x = self.around_cross(x, lambda y: self.cross(y, *key_value, memory_view))
        return self.around_feed_forward(x, self.feed_forward)


def shrink_branches(blocks: nn.ModuleList) -> None:
    """Divide the output projections of a post-norm stack by the square root of their number.

    With Glorot's gains each norm halves the fraction of what came before; what sublayers add to all positions
    remains: after 12 layers the positions of a new encoder have a mean cosine of 0.998. The decoder has nothing to
    attend to and learns its targets by heart, at any rate. GPT-2 scales its pre-norm stacks alike, against growth.
    """
    projections = [
        part.outer if isinstance(part, FeedForward) else part.output
        for block in blocks
        for part in block.children()
        if isinstance(part, FeedForward | Attention)
    ]
    with torch.no_grad():
        for each in projections:
            each.weight.mul_(len(projections) ** -0.5)
