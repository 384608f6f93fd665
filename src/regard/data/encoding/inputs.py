"""Model inputs: padded (one sequence per row) or varlen (sequences concatenated without padding)."""

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
"""From MANY tokens on, bucket sizes have FINE significant bits: 1 % of padding on average. Smaller steps are bound by
launch overhead, and their sizes vary more, so theirs have four."""
LENGTHS = 64
"""Multiple to which max_seqlen of varlen inputs is rounded up."""


@dataclass(frozen=True)
class Tensors:
    """A group of tensors, possibly nested."""

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
    """One sequence per row, padded on the right; `token_mask` is False for padding."""

    tokens: Tensor  # (R, T)
    token_mask: Tensor  # (R, T)

    @property
    def shape(self) -> tuple[int, ...]:
        """R and T."""
        return tuple(self.tokens.shape)

    @property
    def begins(self) -> NDArray[np.int64]:
        """The flat position of each sequence's first token."""
        rows, length = self.shape
        return np.arange(rows) * length

    def padded_to_bucket(self, limit: int | None = None) -> "PaddedInputs":
        """Return the same sequences with rows and columns of padding added; none grows past `limit` tokens."""
        rows, length = self.shape
        grown = (0, columns_to_add(length, limit), 0, rounded_up(rows) - rows)
        return PaddedInputs(F.pad(self.tokens, grown), F.pad(self.token_mask, grown))

    def moved(self, positions: Tensor, grown: "PaddedInputs") -> Tensor:
        """Return the flat positions of the same tokens in rows that were padded further."""
        length = self.shape[1]
        return positions // length * grown.shape[1] + positions % length


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
        """N, R and max_seqlen."""
        return self.tokens.numel(), self.cu_seqlens.numel() - 1, self.max_seqlen

    @property
    def begins(self) -> NDArray[np.int64]:
        """The flat position of each sequence's first token."""
        return self.cu_seqlens[:-1].numpy().astype(np.int64)

    def padded_to_bucket(self, limit: int | None = None) -> "VarlenInputs":
        """Return the same sequences with all sizes rounded up, so that few different shapes occur.

        Added tokens form sequences of padding of at least one token, so that every token belongs to a sequence. None
        is longer than `limit` tokens, the maximum of the model.
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

    def moved(self, positions: Tensor, grown: "VarlenInputs") -> Tensor:
        """Return the positions of the same tokens, which tokens added at the end do not change."""
        return positions


Reading = PaddedInputs | VarlenInputs


def as_padded(sequences: Sequences, rows: NDArray[np.int64], padding: int) -> PaddedInputs:
    """Return some sequences as padded rows."""
    return PaddedInputs(*sequences.padded(rows, padding))


def as_varlen(sequences: Sequences, rows: NDArray[np.int64], segment_starts: NDArray[np.int64]) -> VarlenInputs:
    """Return some sequences as varlen inputs; `segment_starts` has the step of each sequence's second segment."""
    chosen = sequences.select(rows)
    lengths = chosen.lengths
    steps = ragged(np.zeros_like(lengths), lengths)
    return VarlenInputs(
        torch.from_numpy(chosen.ids.astype(np.int64)),
        torch.from_numpy((steps >= np.repeat(segment_starts[rows], lengths)).astype(np.int64)),
        torch.from_numpy(steps),
        torch.from_numpy(chosen.starts.astype(np.int32)),
        int(lengths.max(initial=0)),
    )
