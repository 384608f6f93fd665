"""How a model that sees a set learns where things stand: seven schemes, each one small class."""

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from regard.errors import DataError
from regard.nn.layers.linear import build_linear

PositionKind = Literal["sinusoidal", "learned", "rotary", "alibi", "relative", "index", "none"]


class Rotation(NamedTuple):
    """Cosines and signed sines (T, K), or (B, 1, T, K), of the angles by which queries and keys are turned."""

    cosine: Tensor
    sine: Tensor


class Positions(nn.Module):
    """No notion of position; the schemes below override the one place where they come in.

    Positions (T,) are those of every row; (B, T) where rows begin at different places.
    """

    limit: int | None = None
    """How many positions there are, where that is bounded."""

    def check(self, length: int) -> None:
        """Refuse a sequence that goes past the last position."""
        if self.limit is not None and length > self.limit:
            raise DataError(
                f"A sequence of {length:,} tokens goes past the {self.limit:,} positions this model has learned; "
                f"shorten it, or train with a larger model.max_positions or another model.positions."
            )

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Return the embeddings (B, T, D) with their positions mixed in."""
        return x

    def rotation(self, positions: Tensor) -> Rotation | None:
        """Return the angles by which queries and keys at these positions are turned."""
        return None

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor | None:
        """Return what is added to the scores of queries at some positions for keys at others (H, T, S).

        Where rows begin at different places, it is (B, H, T, S).
        """
        return None


class Sinusoidal(Positions):
    """Waves of falling frequency, a continuous binary counter (Vaswani et al., 2017, §3.5)."""

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Add the waves."""
        return x + sinusoids(positions, x.size(-1)).to(x.dtype)


def sinusoids(positions: Tensor, width: int) -> Tensor:
    """Return PE (..., T, D): sin(pos / 10000^(2j/D)) at feature 2j and the cosine of the same angle at 2j + 1."""
    rates = torch.exp(torch.arange(0, width, 2, device=positions.device) * (-math.log(10000.0) / width))
    angles = positions[..., None] * rates  # (..., T, D / 2)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)


class Learned(Positions):
    """One trained vector a position; past the table there is nothing."""

    def __init__(self, limit: int, width: int) -> None:
        super().__init__()
        self.limit = limit
        self.table = nn.Embedding(limit, width)
        nn.init.normal_(self.table.weight, std=width**-0.5)

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Add the vectors of the positions."""
        return x + self.table(positions)


class AppendedIndex(Positions):
    """The raw index as one more feature, brought back to the model's width: the naive idea, for comparison."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.mix = build_linear(width + 1, width)

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Append the index and mix."""
        index = positions.to(x.dtype)[..., None].expand(*x.shape[:-1], 1)  # (B, T, 1)
        return self.mix(torch.cat((x, index), dim=-1))


class Rotary(Positions):
    """Queries and keys turned by their position, so that scores depend on distance (Su et al., 2021)."""

    def __init__(self, head_width: int) -> None:
        super().__init__()
        self.head_width = head_width

    def rotation(self, positions: Tensor) -> Rotation:
        """Return the angles of each position."""
        steps = torch.arange(0, self.head_width, 2, device=positions.device)
        rates = torch.exp(steps * (-math.log(10000.0) / self.head_width))
        angles = positions[..., None] * rates  # (T, K / 2)
        if positions.dim() == 2:
            angles = angles[:, None]  # (B, 1, T, K / 2)
        cosine, sine = angles.cos(), angles.sin()
        return Rotation(torch.cat((cosine, cosine), -1), torch.cat((-sine, sine), -1))


def rotate(x: Tensor, rotation: Rotation) -> Tensor:
    """Return (B, H, T, K) with the pairs (x_i, x_{i + K/2}) turned."""
    swapped = x.roll(x.size(-1) // 2, dims=-1)
    return torch.addcmul(x * rotation.cosine.to(x.dtype), swapped, rotation.sine.to(x.dtype))


class Alibi(Positions):
    """A penalty that grows with distance, at a slope of its own for each head (Press et al., 2022)."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.register_buffer("slopes", torch.tensor(alibi_slopes(heads)), persistent=False)

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return minus the distance times the slope (H, T, S)."""
        distance = (queries[..., :, None] - keys[..., None, :]).abs()
        return -self.get_buffer("slopes")[:, None, None] * distance[..., None, :, :]


def alibi_slopes(heads: int) -> list[float]:
    """Return 2^(-8 i / H) for i = 1..H; where H is no power of two, every other slope of twice as many fills up."""
    power = 2 ** math.floor(math.log2(heads))
    slopes = [2.0 ** (-8 * i / power) for i in range(1, power + 1)]
    between = [2.0 ** (-4 * i / power) for i in range(1, 2 * power + 1, 2)]
    return slopes + between[: heads - power]


class RelativeBias(Positions):
    """A learned bias for each head and distance, far distances sharing buckets (Raffel et al., 2020, §2.1)."""

    def __init__(self, heads: int, is_causal: bool, buckets: int = 32, farthest: int = 128) -> None:
        super().__init__()
        self.is_causal = is_causal
        self.buckets = buckets
        self.farthest = farthest
        self.table = nn.Embedding(buckets, heads)
        nn.init.normal_(self.table.weight, std=0.02)

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return the bias (H, T, S) of each distance."""
        return self.table(self.bucket(keys[..., None, :] - queries[..., :, None])).movedim(-1, -3)

    def bucket(self, distance: Tensor) -> Tensor:
        """Return the bucket of each signed distance: exact while near, logarithmic beyond, one at the far end."""
        buckets = self.buckets
        if self.is_causal:
            side, distance = torch.zeros_like(distance), (-distance).clamp_min(0)
        else:
            buckets //= 2
            side, distance = (distance > 0) * buckets, distance.abs()
        exact = buckets // 2
        scale = (buckets - exact) / math.log(self.farthest / exact)
        far = exact + ((distance.clamp_min(1) / exact).log() * scale).long()
        return side + torch.where(distance < exact, distance, far.clamp_max(buckets - 1))


def check_widths(kind: PositionKind, width: int, head_width: int) -> None:
    """Refuse widths whose features do not come in the pairs that a scheme needs."""
    if kind == "sinusoidal" and width % 2:
        raise ValueError(f"width: {width} is odd, but sinusoidal positions come in pairs of features.")
    if kind == "rotary" and head_width % 2:
        raise ValueError(f"head_width: {head_width} is odd, but rotary positions turn pairs of features.")


def build_positions(
    kind: PositionKind, width: int, heads: int, head_width: int, limit: int, is_causal: bool
) -> Positions:
    """Return the scheme of that name for one stack of layers."""
    makers: dict[str, Callable[[], Positions]] = {
        "sinusoidal": Sinusoidal,
        "learned": lambda: Learned(limit, width),
        "rotary": lambda: Rotary(head_width),
        "alibi": lambda: Alibi(heads),
        "relative": lambda: RelativeBias(heads, is_causal),
        "index": lambda: AppendedIndex(width),
        "none": Positions,
    }
    return makers[kind]()
