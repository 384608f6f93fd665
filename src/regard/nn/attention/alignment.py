"""Attention of recurrent decoders: six alignment scores of a decoder state s and an encoder state h."""

import math
from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.errors import DataError
from regard.nn.layers.linear import build_linear
from regard.nn.probes.probe import Probe

AlignmentKind = Literal["cosine", "additive", "location", "general", "dot", "scaled-dot"]


class Alignment(nn.Module):
    """dot: sᵀ h (Luong et al., 2015); the subclasses override what differs.

    Terms of h alone are computed once per sentence (`keys`), terms of s alone once per step (`query`).
    """

    def __init__(self) -> None:
        super().__init__()
        self.query: nn.Linear | None = None  # the linear layer of the decoder state, if the score has one

    def keys(self, states: Tensor) -> Tensor:
        """Return the keys (B, S, D) of encoder states (B, S, D)."""
        return states

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        """Return the scores e (B, T, S) of decoder states (B, T, D), or of their `query` layer's outputs."""
        return query @ keys.transpose(-2, -1)


class ScaledDot(Alignment):
    """scaled-dot: sᵀ h / √n (Vaswani et al., 2017): the scale keeps scores of wide vectors small."""

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        """Return e (B, T, S)."""
        return super().score(query, keys) / math.sqrt(query.size(-1))


class General(Alignment):
    """general: sᵀ W h (Luong et al., 2015).

    W is stored √n times larger than it is applied: otherwise a step of Adam, equally large for all n² weights,
    changes the product so much that the softmax saturates early in training.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.key = build_linear(width, width, has_bias=False)
        with torch.no_grad():
            self.key.weight *= width**0.25  # between too sharp and too flat

    def keys(self, states: Tensor) -> Tensor:
        """Return W h (B, S, D)."""
        return self.key(states) / math.sqrt(states.size(-1))


class Additive(Alignment):
    """additive: vᵀ tanh(W [s; h]) = vᵀ tanh(W_s s + W_h h) (Bahdanau et al., 2015)."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.key = build_linear(width, inner)
        self.query = build_linear(width, inner, has_bias=False)
        self.vector = nn.Parameter(torch.empty(inner).uniform_(-1, 1) * math.sqrt(3 / inner))

    def keys(self, states: Tensor) -> Tensor:
        """Return W_h h (B, S, A)."""
        return self.key(states)

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        """Return e (B, T, S)."""
        return (query[:, :, None] + keys[:, None]).tanh() @ self.vector.to(keys.dtype)


class Cosine(Alignment):
    """cosine: g · cos(s, h) with a learned sharpness g (Graves et al., 2014, content-based addressing).

    Without g the scores lie in [-1, 1], and their softmax is nearly uniform: the largest ratio of two weights
    is e².
    """

    def __init__(self) -> None:
        super().__init__()
        self.log_sharpness = nn.Parameter(torch.tensor([math.log(8.0)]))

    def keys(self, states: Tensor) -> Tensor:
        """Return h / |h| (B, S, D)."""
        return F.normalize(states, dim=-1)

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        """Return e (B, T, S)."""
        return super().score(F.normalize(query, dim=-1) * self.log_sharpness.exp().to(query.dtype), keys)


class Location(Alignment):
    """location: α = softmax(W s) (Luong et al., 2015): scores W s, independent of the encoder states.

    W has a row for each source position, so sources have a maximum length.
    """

    def __init__(self, width: int, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self.query = build_linear(width, limit)

    def keys(self, states: Tensor) -> Tensor:
        """Return the states, of which only the number matters; sources beyond the limit are refused."""
        if states.size(1) > self.limit:
            raise DataError(
                f"A source of {states.size(1):,} tokens goes past the {self.limit:,} positions that location-based "
                f"attention has learned; shorten it, or train with a larger model.max_positions or another "
                f"model.alignment."
            )
        return states

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        """Return e (B, T, S)."""
        return query[..., : keys.size(1)]


def build_alignment(kind: AlignmentKind, width: int, inner: int, limit: int) -> Alignment:
    """Return the alignment score of that name for states of the given width."""
    builders: dict[str, Callable[[], Alignment]] = {
        "cosine": Cosine,
        "additive": lambda: Additive(width, inner),
        "location": lambda: Location(width, limit),
        "general": lambda: General(width),
        "dot": Alignment,
        "scaled-dot": ScaledDot,
    }
    return builders[kind]()


class AlignedAttention(nn.Module):
    """Attention weights α = softmax(e) over encoder states without padding, and the context c = Σ α h."""

    def __init__(self, alignment: Alignment) -> None:
        super().__init__()
        self.alignment = alignment
        self.weights = Probe()  # (B, 1, T, S)

    def weigh(self, query: Tensor, keys: Tensor, bias: Tensor) -> Tensor:
        """Return α (B, T, S) of queries as `Alignment.score` takes them; the bias (B, 1, S) masks padding."""
        return (self.alignment.score(query, keys) + bias).softmax(-1)

    def forward(self, states: Tensor, keys: Tensor, values: Tensor, bias: Tensor) -> Tensor:
        """Return the contexts (B, T, D) of decoder states (B, T, D)."""
        query = states if self.alignment.query is None else self.alignment.query(states)
        weights = self.weights(self.weigh(query, keys, bias)[:, None])[:, 0]  # (B, T, S)
        return weights.to(values.dtype) @ values

    def tell(self, weights: Tensor) -> None:
        """Pass the weights (B, T, S) that a loop over steps has used to the probe's listener."""
        shown = weights[:, None]
        if self.weights(shown) is not shown:
            raise RuntimeError("Weights that later steps depend on can be recorded here, not replaced.")
