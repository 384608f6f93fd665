"""Mask-predict training pairs: random target tokens are masked, others in each epoch."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from regard.data.encoding.batches import NO_LABEL, EncodedPairs, TranslationBatch
from regard.data.shuffle import mixed

COARSE = 8
"""Steps between powers of two to which numbers of labels are rounded up: they are random, so they vary more."""


@dataclass(frozen=True)
class MaskPredictBatch(TranslationBatch):
    """Sentence pairs with masked target tokens: BOS replaces each, the labels are the original tokens.

    A target begins with its first token; it ends with EOS, which is never masked.
    """

    lengths: Tensor  # (B,) target tokens, EOS included
    length_count: int
    """The number of lengths that are not padding."""

    def padded_to_bucket(self, limit: int | None = None) -> Self:
        """Return the same examples with all sizes rounded up, so that few different shapes occur."""
        grown = super().padded_to_bucket(limit)
        grown.target_mask[self.source.size(0) :, 0] = True  # softmax over no key is undefined
        more = _rounded_up(grown.labels.numel()) - grown.labels.numel()
        return replace(
            grown,
            label_positions=F.pad(grown.label_positions, (0, more)),
            labels=F.pad(grown.labels, (0, more), value=NO_LABEL),
            lengths=F.pad(grown.lengths, (0, grown.source.size(0) - grown.lengths.numel()), value=NO_LABEL),
        )


def _rounded_up(size: int) -> int:
    step = max(1, (1 << max(0, size.bit_length() - 1)) // COARSE)
    return -(-size // step) * step


@dataclass(frozen=True)
class MaskedPairs:
    """A corpus of pairs in one epoch: masks are a pure function of seed, epoch and pair."""

    pairs: EncodedPairs
    seed: int
    epoch: int

    @property
    def lengths(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Source and target lengths of each pair in tokens."""
        return self.pairs.lengths

    def batch(self, rows: NDArray[np.int64]) -> MaskPredictBatch:
        """Return some of the pairs as one batch."""
        source, source_mask = self.pairs.source.padded(rows, self.pairs.source_padding)
        ids, token_mask = self.pairs.target.padded(rows, self.pairs.target_padding)  # (B, T)
        masked = self._masked(rows, token_mask.size(1))
        positions = np.flatnonzero(masked)
        labels = ids.numpy().reshape(-1)[positions]
        return MaskPredictBatch(
            source,
            source_mask,
            ids.masked_fill(torch.from_numpy(masked), self.pairs.start),
            token_mask,
            torch.from_numpy(positions),
            torch.from_numpy(labels),
            len(positions),
            torch.from_numpy(self.pairs.target.lengths[rows]),
            len(rows),
        )

    def _masked(self, rows: NDArray[np.int64], width: int) -> NDArray[np.bool_]:
        """Return the mask (B, T) of masked tokens: their number is uniform from one to all, their choice too."""
        counts_key, positions_key = np.random.SeedSequence([self.seed, self.epoch]).generate_state(2, np.uint64)
        words = self.pairs.target.lengths[rows] - 1  # without EOS
        steps = np.arange(width)
        counts = np.minimum(1 + (_uniforms(counts_key, rows) * words).astype(np.int64), words)
        draws = _uniforms(positions_key, self.pairs.target.starts[rows][:, None] + steps)
        draws[steps >= words[:, None]] = 2.0  # sorted last
        ranks = draws.argsort(1).argsort(1)
        masked: NDArray[np.bool_] = ranks < counts[:, None]
        return masked


def _uniforms(key: np.uint64, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return a uniform number in [0, 1) for each number; a pure function of key and number."""
    bits = mixed(mixed(numbers.astype(np.uint64) + key) + np.uint64(0x9E3779B97F4A7C15))
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
