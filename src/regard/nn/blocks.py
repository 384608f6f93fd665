"""Encoder and decoder blocks: sublayers with a residual connection around each, the norm in one of three places."""

from collections.abc import Callable
from functools import partial
from typing import Literal

from pydantic import Field, model_validator
from torch import Tensor, nn
from torch.nn import functional as F

from regard.config.settings import Settings
from regard.nn.attention.attention import CrossAttention, SelfAttention, View
from regard.nn.attention.kv_cache import Cache
from regard.nn.kernels.availability import can_fuse
from regard.nn.layers.bias_gelu import gelu_of_sum
from regard.nn.layers.dropout import Dropout
from regard.nn.layers.linear import as_product, build_linear
from regard.nn.layers.residual_norm import beside_norm

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
    """The shape of one block."""

    width: int = Field(512, ge=1)
    """Width of the model, d_model."""
    heads: int = Field(8, ge=1)
    """Attention heads."""
    head_width: int | None = Field(None, ge=1)
    """Width of each head; unset: width / heads."""
    key_value_heads: int | None = Field(None, ge=1)
    """Heads of keys and values in self-attention, each shared by as many attention heads; unset: one for each."""
    feed_forward_width: int = Field(2048, ge=1)
    """Inner width of the feed-forward sublayer."""
    activation: Activation = "relu"
    """What stands between the two feed-forward products; gelu-tanh is the approximation of it that GPTs use."""
    norm: Literal["layer", "rms"] = "layer"
    """Layer norm (mean and variance) or root-mean-square norm."""
    norm_order: NormOrder = "post"
    """norm(x + f(x)) as in the paper, x + f(norm(x)), or x + norm(f(x))."""
    norm_epsilon: float = Field(1e-5, gt=0)
    """Keeps a norm from dividing by nothing."""
    has_bias: bool = True
    """Whether linear layers have biases."""
    dropout: float = Field(0.1, ge=0, lt=1)
    """Dropout on the output of every sublayer."""
    attention_dropout: float = Field(0.0, ge=0, lt=1)
    """Dropout on attention weights (costs the fused kernel on CPU)."""
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
        """The head width after the default has been worked out."""
        return self.head_width or self.width // self.heads

    @property
    def groups(self) -> int:
        """The key and value heads after the default has been worked out."""
        return self.key_value_heads or self.heads


def build_norm(settings: BlockSettings) -> nn.Module:
    """Return a norm over the features of one position."""
    kind = nn.LayerNorm if settings.norm == "layer" else nn.RMSNorm
    return kind(settings.width, eps=settings.norm_epsilon)


class Residual(nn.Module):
    """x and f(x) added, with dropout on f(x) and the norm where `order` says."""

    is_narrow = False
    """Whether sums that come out of a norm are kept in the precision of products, half as wide."""

    def __init__(self, settings: BlockSettings) -> None:
        super().__init__()
        self.order = settings.norm_order
        self.norm = build_norm(settings)
        self.dropout = Dropout(settings.dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Return (B, T, D)."""
        # Calling a module that does nothing takes a microsecond: much, where a step of decoding takes a thousand.
        dropped = self.dropout if self.training else lambda y: y
        if self.order == "pre":
            x, normed = beside_norm(self.norm, x)
            return x + dropped(sublayer(normed))
        if self.order == "res-post":
            return x + dropped(self._normed(sublayer(x)))
        return self._normed(x + dropped(sublayer(x)))

    def _normed(self, x: Tensor) -> Tensor:
        return as_product(self.norm(x)) if self.is_narrow else self.norm(x)


class FeedForward(nn.Module):
    """Two products with a nonlinearity between, at each position alone; SwiGLU gates one half by the other."""

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
        """Return what stands between the products (B, T, F)."""
        if self.activation in GELUS and self.training and self.inner.bias is not None and can_fuse(x):
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
        """Return (B, T, D); a cache adds the positions seen before, and keeps the new ones."""
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
        memory: tuple[Tensor, Tensor],
        memory_view: View,
        cache: Cache | None = None,
    ) -> Tensor:
        """Return (B, T, D); `memory` holds the keys and values that `cross.project` made."""
        x = self.around_attention(x, lambda y: self.attention(y, view, cache))
        x = self.around_cross(x, lambda y: self.cross(y, *memory, memory_view))
        return self.around_feed_forward(x, self.feed_forward)
