"""How well a decoder state s goes with each encoder state h: six scores, and the attention they lead to."""

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
    """dot: sᵀ h (Luong et al., 2015); the others override what they do differently.

    What depends on h alone is worked out once a sentence (`keys`), what depends on s alone once a step (`query`).
    """

    def __init__(self) -> None:
        super().__init__()
        self.query: nn.Linear | None = None  # a product with the decoder state, where the score has one

    def keys(self, states: Tensor) -> Tensor:
        """Return what the scores need of the encoder states (B, S, D)."""
        return states

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        """Return e (B, T, S) of decoder states (B, T, D), or their product where there is one."""
        return query @ keys.transpose(-2, -1)


class ScaledDot(Alignment):
    """scaled-dot: sᵀ h / √n (Vaswani et al., 2017): long vectors would otherwise have large products."""

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        """Return e (B, T, S)."""
        return super().score(query, keys) / math.sqrt(query.size(-1))


class General(Alignment):
    """general: sᵀ W h (Luong et al., 2015).

    W is kept √n times as large as it acts: a step of Adam, as large in each of n² numbers, would otherwise throw the
    product far off, and the softmax would be all on one state before anything is learned.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.key = build_linear(width, width, has_bias=False)
        with torch.no_grad():
            self.key.weight *= width**0.25  # half way between too sharp and too flat

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

    Without g the scores lie in [-1, 1], and their softmax cannot tell one state from ten: e² is the largest ratio
    of two weights.
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
    """location: α = softmax(W s) (Luong et al., 2015): the scores are W s, whatever the encoder states are.

    W has a row for each place in the source, so there is a last place.
    """

    def __init__(self, width: int, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self.query = build_linear(width, limit)

    def keys(self, states: Tensor) -> Tensor:
        """Return the states, of which only the number counts; too many are refused."""
        if states.size(1) > self.limit:
            raise DataError(
                f"A source of {states.size(1):,} tokens goes past the {self.limit:,} places that location-based "
                f"attention has learned; shorten it, or train with a larger model.max_positions or another "
                f"model.alignment."
            )
        return states

    def score(self, query: Tensor, keys: Tensor) -> Tensor:
        """Return e (B, T, S)."""
        return query[..., : keys.size(1)]


def build_alignment(kind: AlignmentKind, width: int, inner: int, limit: int) -> Alignment:
    """Return the score of that name for states of one width."""
    makers: dict[str, Callable[[], Alignment]] = {
        "cosine": Cosine,
        "additive": lambda: Additive(width, inner),
        "location": lambda: Location(width, limit),
        "general": lambda: General(width),
        "dot": Alignment,
        "scaled-dot": ScaledDot,
    }
    return makers[kind]()


class AlignedAttention(nn.Module):
    """α = softmax(e) over the real encoder states, and the context c = Σ α h."""

    def __init__(self, alignment: Alignment) -> None:
        super().__init__()
        self.alignment = alignment
        self.weights = Probe()  # (B, 1, T, S)

    def weigh(self, query: Tensor, keys: Tensor, bias: Tensor) -> Tensor:
        """Return α (B, T, S) of queries as `Alignment.score` takes them; the bias (B, 1, S) forbids padding."""
        return (self.alignment.score(query, keys) + bias).softmax(-1)

    def forward(self, states: Tensor, keys: Tensor, values: Tensor, bias: Tensor) -> Tensor:
        """Return the contexts (B, T, D) of decoder states (B, T, D)."""
        query = states if self.alignment.query is None else self.alignment.query(states)
        weights = self.weights(self.weigh(query, keys, bias)[:, None])[:, 0]  # (B, T, S)
        return weights.to(values.dtype) @ values

    def tell(self, weights: Tensor) -> None:
        """Show a listener the weights (B, T, S) that a loop over steps has used."""
        shown = weights[:, None]
        if self.weights(shown) is not shown:
            raise RuntimeError("Weights that each step builds on can be looked at here, not replaced.")
