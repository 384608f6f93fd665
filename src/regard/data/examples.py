"""Labelled examples as ids: each one or several framed sequences, and one label."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from regard.data.batches import NO_LABEL, columns_to_add, rounded_up
from regard.data.choices import Choice
from regard.data.frames import Frame, cut_beginning, cut_ends
from regard.data.sequences import Sequences
from regard.progress import SILENT, Progress
from regard.text import Tokenizer

CHUNK = 4096


@dataclass(frozen=True)
class LabelBatch:
    """Examples of K sequences each, padded behind; `real` is True where a token is no padding."""

    tokens: Tensor  # (B * K, T)
    real: Tensor  # (B * K, T)
    extracts: Tensor  # (B * K,) the step whose hidden state is looked at
    offered: Tensor  # (B, K) False where an example has fewer sequences than others
    labels: Tensor  # (B,) NO_LABEL where a row only fills up a shape
    token_places: Tensor  # (N,) places in the flat (B * K * T) that have a next token
    token_labels: Tensor  # (N,) that token
    label_count: int
    token_count: int

    @property
    def tensors(self) -> dict[str, Tensor]:
        """All tensors by name."""
        return {each.name: getattr(self, each.name) for each in fields(self) if not each.name.endswith("_count")}

    @property
    def shape(self) -> tuple[int, ...]:
        """B, K, T and N."""
        return (*self.offered.shape, self.tokens.size(1), self.token_labels.numel())

    def to(self, device: torch.device) -> "LabelBatch":
        """Return the same batch on another device."""
        moved: dict[str, Any] = {name: value.to(device, non_blocking=True) for name, value in self.tensors.items()}
        return replace(self, **moved)

    def on_grid(self, limit: int | None = None) -> "LabelBatch":
        """Return the same examples with all sizes rounded up, so that few different shapes occur.

        Added rows have no label. No sequence grows past `limit` tokens, where a model has no place for more.
        """
        B, K, T, N = self.shape
        more = rounded_up(B) - B
        grown = (0, columns_to_add(T, limit), 0, more * K)
        real, offered = F.pad(self.real, grown), F.pad(self.offered, (0, 0, 0, more))
        offered[B:, 0] = True  # a choice among nothing has no probability
        places = next_places(real.numpy())
        return replace(
            self,
            tokens=F.pad(self.tokens, grown),
            real=real,
            extracts=F.pad(self.extracts, (0, more * K)),
            offered=offered,
            labels=F.pad(self.labels, (0, more), value=NO_LABEL),
            token_places=F.pad(torch.from_numpy(places), (0, rounded_up(N) - N)),
            token_labels=F.pad(self.token_labels, (0, rounded_up(N) - N), value=NO_LABEL),
        )


def next_places(real: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the places in the flat (R * T) behind which another token stands."""
    has_next = np.zeros_like(real)
    has_next[:, :-1] = real[:, 1:]
    return np.flatnonzero(has_next)


@dataclass(frozen=True)
class EncodedExamples:
    """Examples as ids: example i has the sequences from firsts[i] to firsts[i + 1]."""

    sequences: Sequences
    firsts: NDArray[np.int64]
    labels: NDArray[np.int64]
    is_cut: NDArray[np.bool_]
    """Which examples were too long, and lost a part."""
    padding: int

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def lengths(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What an example takes up: nothing on a source side, and its sequences padded to the longest."""
        widest = np.maximum.reduceat(self.sequences.lengths, self.firsts[:-1])
        return np.zeros_like(widest), widest * np.diff(self.firsts)

    def fingerprint(self) -> str:
        """Return a hash of all ids and labels: the same examples through the same tokenizer."""
        found = hashlib.sha256()
        for array in (self.sequences.starts, self.sequences.ids, self.firsts, self.labels):
            found.update(array.tobytes())
        return found.hexdigest()

    def batch(self, rows: NDArray[np.int64]) -> LabelBatch:
        """Return some of the examples as one batch."""
        counts = self.firsts[rows + 1] - self.firsts[rows]
        K = int(counts.max())
        offered = np.arange(K) < counts[:, None]  # (B, K)
        # A row without a sequence of its own repeats the example's first one, and is not looked at.
        places = (self.firsts[rows, None] + np.where(offered, np.arange(K), 0)).ravel()
        tokens, real = self.sequences.padded(places, self.padding)
        is_read = real.numpy() & offered.reshape(-1, 1)
        said = next_places(is_read)
        return LabelBatch(
            tokens,
            torch.from_numpy(is_read),
            torch.from_numpy(self.sequences.lengths[places] - 1),
            torch.from_numpy(offered),
            torch.from_numpy(self.labels[rows]),
            torch.from_numpy(said),
            torch.from_numpy(tokens.numpy().reshape(-1)[said + 1]),
            len(rows),
            len(said),
        )


def encode_texts(
    texts: Sequence[Sequence[str]],
    labels: Sequence[int],
    tokenizer: Tokenizer,
    limit: int,
    both_orders: bool = False,
    progress: Progress = SILENT,
) -> EncodedExamples:
    """Return texts, or pairs of them (if asked for in both orders), as framed sequences of `limit` tokens at most."""
    frame, size = Frame.of(tokenizer), len(texts[0]) if texts else 1
    ids = _encode([text for each in texts for text in each], tokenizer, progress)
    found, cut = list[list[int]](), list[bool]()
    for first in range(0, len(ids), size):
        parts, room = ids[first : first + size], limit - frame.size(size)
        cut.append(sum(map(len, parts)) > room)
        kept = cut_ends(parts, room)
        found.append(frame.around(kept))
        if both_orders:
            found.append(frame.around(kept[::-1]))
    firsts = np.arange(len(texts) + 1) * (2 if both_orders else 1)
    return EncodedExamples(
        Sequences.of(found), firsts, np.asarray(labels, np.int64), np.asarray(cut, bool), frame.padding
    )


def encode_choices(
    examples: Sequence[Choice], tokenizer: Tokenizer, limit: int, progress: Progress = SILENT
) -> EncodedExamples:
    """Return each context with each of its choices as a framed sequence of `limit` tokens at most."""
    frame = Frame.of(tokenizer)
    room = limit - frame.size(2)
    ids = iter(_encode([text for each in examples for text in (each.context, *each.choices)], tokenizer, progress))
    found, cut = list[list[int]](), list[bool]()
    for example in examples:
        context, choices = next(ids), [next(ids) for _ in example.choices]
        cut.append(len(context) + max(map(len, choices)) > room)
        found += [frame.around(cut_beginning(context, choice, room)) for choice in choices]
    firsts = np.cumsum([0, *(len(example.choices) for example in examples)])
    labels = np.asarray([example.label for example in examples], np.int64)
    return EncodedExamples(Sequences.of(found), firsts, labels, np.asarray(cut, bool), frame.padding)


def _encode(texts: Sequence[str], tokenizer: Tokenizer, progress: Progress) -> list[list[int]]:
    ids: list[list[int]] = []
    with progress.bar("encode", len(texts)) as bar:
        for start in range(0, len(texts), CHUNK):
            chunk = texts[start : start + CHUNK]
            ids += tokenizer.encode_batch(chunk)
            bar.advance(len(chunk))
    return ids
