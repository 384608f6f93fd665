"""Pairs whose targets have some of their words masked, drawn anew each time they are seen."""

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
"""Sizes to which numbers of labels are rounded up, between a power of two and the next: they are drawn, and vary."""


@dataclass(frozen=True)
class MaskPredictBatch(TranslationBatch):
    """Sentence pairs with masked words in the target: the start token stands for each, and the labels say what it is.

    A target begins with its first word; it ends with the end token, which is never masked.
    """

    lengths: Tensor  # (B,) target tokens, the end token among them
    length_count: int
    """How many of the lengths are one."""

    def padded_to_bucket(self, limit: int | None = None) -> Self:
        """Return the same examples with all sizes rounded up, so that few different shapes occur."""
        grown = super().padded_to_bucket(limit)
        grown.target_mask[self.source.size(0) :, 0] = True  # attention to nothing at all has no value
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
    """A corpus of pairs in one epoch: which words are masked follows from the seed, the epoch and the pair alone."""

    pairs: EncodedPairs
    seed: int
    epoch: int

    @property
    def lengths(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many tokens each pair has on both sides."""
        return self.pairs.lengths

    def batch(self, rows: NDArray[np.int64]) -> MaskPredictBatch:
        """Return some of the pairs as one batch."""
        source, source_mask = self.pairs.source.padded(rows, self.pairs.source_padding)
        said, token_mask = self.pairs.target.padded(rows, self.pairs.target_padding)  # (B, T)
        masked = self._masked(rows, token_mask.size(1))
        places = np.flatnonzero(masked)
        labels = said.numpy().reshape(-1)[places]
        return MaskPredictBatch(
            source,
            source_mask,
            said.masked_fill(torch.from_numpy(masked), self.pairs.start),
            token_mask,
            torch.from_numpy(places),
            torch.from_numpy(labels),
            len(places),
            torch.from_numpy(self.pairs.target.lengths[rows]),
            len(rows),
        )

    def _masked(self, rows: NDArray[np.int64], width: int) -> NDArray[np.bool_]:
        """Return where (B, T) words are masked: as many as is drawn, from one to all, and any as likely as others."""
        counts_key, places_key = np.random.SeedSequence([self.seed, self.epoch]).generate_state(2, np.uint64)
        words = self.pairs.target.lengths[rows] - 1  # the end token is none
        steps = np.arange(width)
        counts = np.minimum(1 + (_draws(counts_key, rows) * words).astype(np.int64), words)
        draws = _draws(places_key, self.pairs.target.starts[rows][:, None] + steps)
        draws[steps >= words[:, None]] = 2.0  # behind all others
        ranks = draws.argsort(1).argsort(1)
        masked: NDArray[np.bool_] = ranks < counts[:, None]
        return masked


def _draws(key: np.uint64, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return a number from 0 to 1 for each of some numbers; the same for the same, however they are put together."""
    bits = mixed(mixed(numbers.astype(np.uint64) + key) + np.uint64(0x9E3779B97F4A7C15))
    return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
