"""Batches of sentence pairs: frozen tensors, padded to buckets of few shapes, in pinned memory for CUDA."""

import hashlib
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from regard.data.encoding.sequences import Sequences

NO_LABEL = -1
"""Label of a padding position, which has no loss."""


@dataclass(frozen=True)
class TranslationBatch:
    """Padded sentence pairs; masks are True for tokens, False for padding."""

    source: Tensor  # (B, S) ends with EOS
    source_mask: Tensor  # (B, S)
    target: Tensor  # (B, T) decoder input, begins with BOS
    target_mask: Tensor  # (B, T)
    label_positions: Tensor  # (N,) positions in the flat (B * T) that have a label
    labels: Tensor  # (N,) ids to predict there
    label_count: int
    """The number of labels that are not NO_LABEL."""

    @property
    def tensors(self) -> dict[str, Tensor]:
        """All tensors by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, Tensor)}

    @property
    def shape(self) -> tuple[int, ...]:
        """B, S, T and N."""
        return (*self.source.shape, self.target.size(1), self.labels.numel())

    def to(self, device: torch.device) -> Self:
        """Return the same batch on another device."""
        moved: dict[str, Any] = {name: on_device(value, device) for name, value in self.tensors.items()}
        return replace(self, **moved)

    def padded_to_bucket(self, limit: int | None = None) -> Self:
        """Return the same examples with all sizes rounded up, so that few different shapes occur.

        Added rows have one token on each side and no label: they cost little and change nothing. No sequence grows
        past `limit` tokens, the maximum of the model.
        """
        B, _, T, N = self.shape
        rows = rounded_up(B) - B
        wider = lambda x: F.pad(x, (0, columns_to_add(x.size(1), limit), 0, rows))
        source_mask, target_mask = wider(self.source_mask), wider(self.target_mask)
        source_mask[B:, 0] = True  # softmax over no key is undefined
        positions = self.label_positions // T * target_mask.size(1) + self.label_positions % T
        more = rounded_up(N) - N
        return replace(
            self,
            source=wider(self.source),
            source_mask=source_mask,
            target=wider(self.target),
            target_mask=target_mask,
            label_positions=F.pad(positions, (0, more)),
            labels=F.pad(self.labels, (0, more), value=NO_LABEL),
        )


def on_device(value: Tensor, device: torch.device) -> Tensor:
    """Return a tensor on a device, copied asynchronously."""
    return pinned(value, device).to(device, non_blocking=True)


def pinned(value: Tensor, device: torch.device) -> Tensor:
    """Return a tensor in pinned memory if it is to be copied to a GPU: only then is the copy asynchronous."""
    return value.pin_memory() if device.type == "cuda" and value.device.type == "cpu" else value


def columns_to_add(length: int, limit: int | None) -> int:
    """Return the columns to add: up to a multiple of four, but not past the limit."""
    more = -length % 4
    return more if limit is None else min(more, max(0, limit - length))


def rounded_up(size: int, bits: int = 4) -> int:
    """Return the next size with at most `bits` significant bits; four give 8 steps between powers of two."""
    step = 1 << max(0, size.bit_length() - bits)
    return -(-size // step) * step


@dataclass(frozen=True)
class EncodedPairs:
    """A corpus of pairs as ids, each sentence ending with EOS, and the special tokens of batches."""

    source: Sequences
    target: Sequences
    source_padding: int
    target_padding: int
    start: int

    def __len__(self) -> int:
        return len(self.source)

    @property
    def lengths(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Source and target lengths of each pair in tokens."""
        return self.source.lengths, self.target.lengths

    def fingerprint(self) -> str:
        """Return a hash of all ids: equal for the same text and tokenizer."""
        digest = hashlib.sha256()
        for array in (self.source.starts, self.source.ids, self.target.starts, self.target.ids):
            digest.update(array.tobytes())
        return digest.hexdigest()

    def select(self, rows: NDArray[np.int64]) -> "EncodedPairs":
        """Return some of the pairs."""
        return replace(self, source=self.source.select(rows), target=self.target.select(rows))

    def batch(self, rows: NDArray[np.int64]) -> TranslationBatch:
        """Return some of the pairs as one batch."""
        source, source_mask = self.source.padded(rows, self.source_padding)
        ids, token_mask = self.target.padded(rows, self.target_padding)  # (B, T)
        # Teacher forcing: the decoder input is the reference shifted right by one.
        target = F.pad(ids[:, :-1], (1, 0), value=self.start)
        positions = np.flatnonzero(token_mask.numpy())  # several times as fast as torch.nonzero
        labels = ids.numpy().reshape(-1)[positions]
        return TranslationBatch(
            source,
            source_mask,
            target,
            token_mask,
            torch.from_numpy(positions),
            torch.from_numpy(labels),
            len(positions),
        )
