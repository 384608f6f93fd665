"""Ragged sequences of token ids in one flat array, and their padded selections."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.progress import SILENT, Progress
from regard.text.tokenizer import Tokenizer

CHUNK = 4096


@dataclass(frozen=True)
class Sequences:
    """Concatenated sequences: sequence i is ids[starts[i] : starts[i + 1]]."""

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, lists: Iterable[Sequence[int] | NDArray[np.int32]]) -> "Sequences":
        """Return lists of ids, concatenated."""
        arrays = [np.asarray(ids, dtype=np.int32) for ids in lists]
        lengths = np.fromiter((len(ids) for ids in arrays), np.int64, count=len(arrays))
        flat = np.concatenate(arrays) if arrays else np.zeros(0, np.int32)
        return cls(flat, np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> NDArray[np.int32]:
        return self.ids[self.starts[row] : self.starts[row + 1]]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of ids of each sequence."""
        return np.diff(self.starts)

    def select(self, rows: NDArray[np.int64]) -> "Sequences":
        """Return some of the sequences, in the order given."""
        lengths = self.lengths[rows]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        indices = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], lengths)
        return Sequences(self.ids[indices], starts)

    def followed_by(self, others: "Sequences") -> "Sequences":
        """Return these sequences followed by the others."""
        starts = np.concatenate([self.starts[:-1], others.starts + len(self.ids)])
        return Sequences(np.concatenate([self.ids, others.ids]), starts)

    def padded(self, rows: NDArray[np.int64], padding: int) -> tuple[Tensor, Tensor]:
        """Return ids (B, T) and token mask (B, T) of some sequences, padded on the right to the longest."""
        starts = self.starts[rows]
        lengths = self.starts[rows + 1] - starts
        steps = np.arange(lengths.max(initial=0))
        token_mask = steps < lengths[:, None]  # (B, T)
        indices = np.minimum(starts[:, None] + steps, len(self.ids) - 1)
        tokens = np.where(token_mask, self.ids[indices], padding)
        return torch.from_numpy(tokens.astype(np.int64)), torch.from_numpy(token_mask)


def encode(
    texts: Sequence[str], tokenizer: Tokenizer, progress: Progress = SILENT, title: str = "encode"
) -> Sequences:
    """Return the texts as ids, each ending with EOS; encoded on all cores."""
    ids: list[list[int]] = []
    with progress.bar(title, len(texts)) as bar:
        for start in range(0, len(texts), CHUNK):
            chunk = texts[start : start + CHUNK]
            ids += [[*encoded, tokenizer.eos_id] for encoded in tokenizer.encode_batch(chunk)]
            bar.advance(len(chunk))
    return Sequences.of(ids)
