"""What a model and its objective get to see of the data: frozen batches of tensors."""

import hashlib
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.data.sequences import Sequences


@dataclass(frozen=True)
class TranslationBatch:
    """Padded sentence pairs; `real` is True where a token is no padding."""

    source: Tensor  # (B, S) ends with the end token
    source_real: Tensor  # (B, S)
    target: Tensor  # (B, T) begins with the start token: what the decoder reads
    target_real: Tensor  # (B, T)
    label_places: Tensor  # (N,) places in the flat (B * T) that have a label
    labels: Tensor  # (N,) what the decoder is to say there

    def to(self, device: torch.device) -> "TranslationBatch":
        """Return the same batch on another device."""
        moved = {field.name: getattr(self, field.name).to(device, non_blocking=True) for field in fields(self)}
        return replace(self, **moved)


@dataclass(frozen=True)
class EncodedPairs:
    """A corpus of pairs as ids, an end token behind each sentence, with what it takes to make batches."""

    source: Sequences
    target: Sequences
    source_padding: int
    target_padding: int
    start: int

    def __len__(self) -> int:
        return len(self.source)

    def fingerprint(self) -> str:
        """Return a hash of all ids: the same text through the same tokenizer."""
        found = hashlib.sha256()
        for array in (self.source.starts, self.source.ids, self.target.starts, self.target.ids):
            found.update(array.tobytes())
        return found.hexdigest()

    def select(self, rows: NDArray[np.int64]) -> "EncodedPairs":
        """Return some of the pairs."""
        return replace(self, source=self.source.select(rows), target=self.target.select(rows))

    def batch(self, rows: NDArray[np.int64]) -> TranslationBatch:
        """Return some of the pairs as one batch."""
        source, source_real = self.source.padded(rows, self.source_padding)
        said, real = self.target.padded(rows, self.target_padding)  # (B, T)
        target = torch.full_like(said, self.target_padding)
        target[:, 0] = self.start
        target[:, 1:] = said[:, :-1]  # teacher forcing: the decoder reads what it should have said before
        places = real.flatten().nonzero().squeeze(1)
        return TranslationBatch(source, source_real, target, real, places, said.flatten()[places])
