"""Position encodings: seven schemes, since attention alone is invariant to the order of tokens."""

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from regard.errors import DataError
from regard.nn.layers.linear import build_linear

PositionKind = Literal["sinusoidal", "learned", "rotary", "alibi", "relative", "index", "none"]


class Rotation(NamedTuple):
    """Cosines and signed sines (T, K), or (B, 1, T, K), of the rotation angles of queries and keys."""

    cosine: Tensor
    sine: Tensor


class Positions(nn.Module):
    """No position information; the schemes below override one method each.

    Positions (T,) hold for every row; (B, T) if rows have different offsets.
    """

    limit: int | None = None
    """Maximum number of positions, None if unbounded."""

    def check(self, length: int) -> None:
        """Refuse a sequence longer than the maximum number of positions."""
        if self.limit is not None and length > self.limit:
            raise DataError(
                f"A sequence of {length:,} tokens goes past the {self.limit:,} positions this model has learned; "
                f"shorten it, or train with a larger model.max_positions or another model.positions."
            )

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Return the embeddings (B, T, D) with positions added."""
        return x

    def rotation(self, positions: Tensor) -> Rotation | None:
        """Return the rotation of queries and keys at these positions, None if there is none."""
        return None

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor | None:
        """Return the bias (H, T, S) of the scores of queries and keys at these positions, None if there is none.

        It is (B, H, T, S) for positions (B, T).
        """
        return None


class Sinusoidal(Positions):
    """Sinusoids of falling frequency (Vaswani et al., 2017, §3.5)."""

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Return x plus the sinusoids (B, T, D)."""
        return x + sinusoids(positions, x.size(-1)).to(x.dtype)


def sinusoids(positions: Tensor, width: int) -> Tensor:
    """Return PE (..., T, D): sin(pos / 10000^(2j/D)) at feature 2j and the cosine of the same angle at 2j + 1."""
    rates = torch.exp(torch.arange(0, width, 2, device=positions.device) * (-math.log(10000.0) / width))
    angles = positions[..., None] * rates  # (..., T, D / 2)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)


class Learned(Positions):
    """One learned vector per position, up to `limit` positions."""

    def __init__(self, limit: int, width: int) -> None:
        super().__init__()
        self.limit = limit
        self.table = nn.Embedding(limit, width)
        nn.init.normal_(self.table.weight, std=width**-0.5)

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Return x plus the position vectors (B, T, D)."""
        return x + self.table(positions)


class AppendedIndex(Positions):
    """The raw index as an additional feature, projected to the model's width: a naive baseline."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.mix = build_linear(width + 1, width)

    def embed(self, x: Tensor, positions: Tensor) -> Tensor:
        """Return the projection (B, T, D) of x with the index appended."""
        index = positions.to(x.dtype)[..., None].expand(*x.shape[:-1], 1)  # (B, T, 1)
        return self.mix(torch.cat((x, index), dim=-1))


class Rotary(Positions):
    """RoPE: queries and keys rotated by position, so that scores depend on distance (Su et al., 2021)."""

    def __init__(self, head_width: int) -> None:
        super().__init__()
        self.head_width = head_width

    def rotation(self, positions: Tensor) -> Rotation:
        """Return the rotation of each position."""
        steps = torch.arange(0, self.head_width, 2, device=positions.device)
        rates = torch.exp(steps * (-math.log(10000.0) / self.head_width))
        angles = positions[..., None] * rates  # (T, K / 2)
        if positions.dim() == 2:
            angles = angles[:, None]  # (B, 1, T, K / 2)
        cosine, sine = angles.cos(), angles.sin()
        return Rotation(torch.cat((cosine, cosine), -1), torch.cat((-sine, sine), -1))


def rotate(x: Tensor, rotation: Rotation) -> Tensor:
    """Return (B, H, T, K) with the pairs (x_i, x_{i + K/2}) rotated."""
    swapped = x.roll(x.size(-1) // 2, dims=-1)
    return torch.addcmul(x * rotation.cosine.to(x.dtype), swapped, rotation.sine.to(x.dtype))


class Alibi(Positions):
    """ALiBi: a penalty linear in distance, with one slope per head (Press et al., 2022)."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.register_buffer("slopes", torch.tensor(alibi_slopes(heads)), persistent=False)

    def bias(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return minus the distance times the slope (H, T, S)."""
        distance = (queries[..., :, None] - keys[..., None, :]).abs()
        return -self.get_buffer("slopes")[:, None, None] * distance[..., None, :, :]


def alibi_slopes(heads: int) -> list[float]:
    """Return 2^(-8 i / H) for i = 1..H; if H is not a power of two, every other slope of 2 H heads is appended."""
    power = 2 ** math.floor(math.log2(heads))
    slopes = [2.0 ** (-8 * i / power) for i in range(1, power + 1)]
    between = [2.0 ** (-4 * i / power) for i in range(1, 2 * power + 1, 2)]
    return slopes + between[: heads - power]


class RelativeBias(Positions):
    """T5's relative bias: learned per head and distance, far distances share buckets (Raffel et al., 2020, §2.1)."""

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
        """Return the bucket of each signed distance: exact when near, logarithmic beyond, the last for all others."""
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
    """Refuse odd widths for schemes that pair features."""
    if kind == "sinusoidal" and width % 2:
        raise ValueError(f"width: {width} is not even, but sinusoidal positions come in pairs of features.")
    if kind == "rotary" and head_width % 2:
        raise ValueError(f"head_width: {head_width} is not even, but rotary positions rotate pairs of features.")


def build_positions(
    kind: PositionKind, width: int, heads: int, head_width: int, limit: int, is_causal: bool
) -> Positions:
    """Return the position encoding of that name for one stack of layers."""
    builders: dict[str, Callable[[], Positions]] = {
        "sinusoidal": Sinusoidal,
        "learned": lambda: Learned(limit, width),
        "rotary": lambda: Rotary(head_width),
        "alibi": lambda: Alibi(heads),
        "relative": lambda: RelativeBias(heads, is_causal),
        "index": lambda: AppendedIndex(width),
        "none": Positions,
    }
    return builders[kind]()
