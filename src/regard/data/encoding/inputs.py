"""What a model is given to read: sequences a row each, or end to end without any padding."""

from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from regard.data.counter_rng import ragged
from regard.data.encoding.batches import columns_to_add, on_device, rounded_up
from regard.data.encoding.sequences import Sequences

MANY, FINE = 2**13, 6
"""From so many tokens on, their number on a grid has so many significant bits: 1 % fills up shapes, on average. Steps
of fewer take as long as it takes to ask for them, and their numbers vary more."""
LENGTHS = 64
"""The longest sequence of those that lie end to end is a multiple of that on a grid."""


@dataclass(frozen=True)
class Tensors:
    """A group of tensors, some of them perhaps in a group of their own."""

    @property
    def tensors(self) -> dict[str, Tensor]:
        """All tensors by name."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        inner = [each.tensors for each in values.values() if isinstance(each, Tensors)]
        own = {name: value for name, value in values.items() if isinstance(value, Tensor)}
        return own | {name: value for group in inner for name, value in group.items()}

    def to(self, device: torch.device) -> Self:
        """Return the same on another device."""
        moved: dict[str, Any] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Tensor):
                moved[each.name] = on_device(value, device)
            elif isinstance(value, Tensors):
                moved[each.name] = value.to(device)
        return replace(self, **moved)


@dataclass(frozen=True)
class PaddedInputs(Tensors):
    """Sequences a row each, padded behind; `real` is True where a token is no padding."""

    tokens: Tensor  # (R, T)
    token_mask: Tensor  # (R, T)

    @property
    def shape(self) -> tuple[int, ...]:
        """R and T."""
        return tuple(self.tokens.shape)

    @property
    def begins(self) -> NDArray[np.int64]:
        """Where each sequence begins among all places."""
        rows, length = self.shape
        return np.arange(rows) * length

    def padded_to_bucket(self, limit: int | None = None) -> "PaddedInputs":
        """Return the same sequences with rows and columns of padding added; none grows past `limit` tokens."""
        rows, length = self.shape
        grown = (0, columns_to_add(length, limit), 0, rounded_up(rows) - rows)
        return PaddedInputs(F.pad(self.tokens, grown), F.pad(self.token_mask, grown))

    def moved(self, places: Tensor, grown: "PaddedInputs") -> Tensor:
        """Return where the same tokens are among the places of rows that were made longer."""
        length = self.shape[1]
        return places // length * grown.shape[1] + places % length


@dataclass(frozen=True)
class VarlenInputs(Tensors):
    """Sequences of one segment or two, without padding."""

    tokens: Tensor  # (N,)
    segments: Tensor  # (N,)
    positions: Tensor  # (N,)
    cu_seqlens: Tensor  # (R + 1,) int32: where each sequence begins, and where the last ends
    max_seqlen: int
    """No sequence is longer."""

    @property
    def shape(self) -> tuple[int, ...]:
        """N, R and the longest."""
        return self.tokens.numel(), self.cu_seqlens.numel() - 1, self.max_seqlen

    @property
    def begins(self) -> NDArray[np.int64]:
        """Where each sequence begins among all places."""
        return self.cu_seqlens[:-1].numpy().astype(np.int64)

    def padded_to_bucket(self, limit: int | None = None) -> "VarlenInputs":
        """Return the same sequences with all sizes rounded up, so that few different shapes occur.

        Further sequences of padding, one token long or longer, fill up the tokens, so that each belongs to one. None
        is longer than `limit` tokens, where a model has no place for more.
        """
        size, rows, longest = self.shape
        longest = -(-longest // LENGTHS) * LENGTHS
        longest = longest if limit is None else max(self.max_seqlen, min(longest, limit))
        more = rounded_up(rows) - rows
        bits = FINE if size >= MANY else 4
        tokens = rounded_up(size + more, bits) - size
        while more * longest < tokens:
            more = rounded_up(rows + more + 1) - rows
            tokens = rounded_up(size + more, bits) - size
        ends = size + np.arange(more + 1) * tokens // max(1, more)
        steps = ragged(np.zeros(more, np.int64), np.diff(ends))
        return VarlenInputs(
            F.pad(self.tokens, (0, tokens)),
            F.pad(self.segments, (0, tokens)),
            torch.cat((self.positions, torch.from_numpy(steps))),
            torch.cat((self.cu_seqlens, torch.from_numpy(ends[1:].astype(np.int32)))),
            longest,
        )

    def moved(self, places: Tensor, grown: "VarlenInputs") -> Tensor:
        """Return where the same tokens are when others have been added behind them."""
        return places


Reading = PaddedInputs | VarlenInputs


def as_rows(sequences: Sequences, rows: NDArray[np.int64], padding: int) -> PaddedInputs:
    """Return some sequences a row each."""
    return PaddedInputs(*sequences.padded(rows, padding))


def end_to_end(sequences: Sequences, rows: NDArray[np.int64], seconds: NDArray[np.int64]) -> VarlenInputs:
    """Return some sequences end to end; `seconds` says at which step of each its second segment begins."""
    found = sequences.select(rows)
    lengths = found.lengths
    steps = ragged(np.zeros_like(lengths), lengths)
    return VarlenInputs(
        torch.from_numpy(found.ids.astype(np.int64)),
        torch.from_numpy((steps >= np.repeat(seconds[rows], lengths)).astype(np.int64)),
        torch.from_numpy(steps),
        torch.from_numpy(found.starts.astype(np.int32)),
        int(lengths.max(initial=0)),
    )
