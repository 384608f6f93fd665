"""Encoded labeled examples: one or several sequences with special tokens, and one label each."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from regard.data.encoding.batches import NO_LABEL, rounded_up
from regard.data.encoding.inputs import PaddedInputs, Reading, Tensors, as_padded, as_varlen
from regard.data.encoding.sequences import Sequences
from regard.data.encoding.templates import SequenceTemplate, cut_beginning, cut_ends
from regard.data.settings.examples import Pairs
from regard.data.sources.multiple_choice import MultipleChoiceRow
from regard.progress import SILENT, Progress
from regard.text.tokenizer import Tokenizer

CHUNK = 4096


@dataclass(frozen=True)
class HeadBatch(Tensors):
    """Input sequences and B predictions, each from the states of K tokens."""

    reading: Any  # a Reading, or VectorRows
    places: Tensor  # (B, K) flat positions of these tokens in all sequences
    candidate_mask: Tensor  # (B, K) False for padding of K
    labels: Tensor  # (B,) the labels, of spans (B, 2); NO_LABEL (NaN) for padding
    lm_positions: Tensor  # (N,) flat positions with a next token to predict
    token_labels: Tensor  # (N,) that next token
    label_count: int
    token_count: int

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the input, B, K and N."""
        return (*self.reading.shape, *self.candidate_mask.shape, self.token_labels.numel())

    def padded_to_bucket(self, limit: int | None = None) -> "HeadBatch":
        """Return the same examples with all sizes rounded up, so that few different shapes occur.

        Added predictions have no label. No sequence grows past `limit` tokens, the maximum of the model.
        """
        (B, K), N = self.candidate_mask.shape, self.token_labels.numel()
        more = (0, rounded_up(K) - K, 0, rounded_up(B) - B)
        longer = (0, rounded_up(N) - N)
        grown = self.reading.padded_to_bucket(limit)
        candidate_mask = F.pad(self.candidate_mask, more)
        candidate_mask[B:, 0] = True  # softmax over no candidate is undefined
        nothing = float("nan") if self.labels.is_floating_point() else NO_LABEL
        moved = lambda positions: self.reading.moved(positions, grown)
        return replace(
            self,
            reading=grown,
            places=F.pad(moved(self.places), more),
            candidate_mask=candidate_mask,
            labels=F.pad(self.labels, (*[0, 0] * (self.labels.dim() - 1), 0, more[3]), value=nothing),
            lm_positions=F.pad(moved(self.lm_positions), longer),
            token_labels=F.pad(self.token_labels, longer, value=NO_LABEL),
        )


@dataclass(frozen=True)
class Framed:
    """Sequences with special tokens as ids, and the step at which the second text of each begins."""

    frame: SequenceTemplate
    sequences: Sequences
    segment_starts: NDArray[np.int64]

    @classmethod
    def of(cls, frame: SequenceTemplate, texts: Sequence[Sequence[Sequence[int]]]) -> "Framed":
        """Return texts with their special tokens."""
        starts = np.fromiter((frame.second(each) for each in texts), np.int64, count=len(texts))
        return cls(frame, Sequences.of([frame.around(each) for each in texts]), starts)

    def reading(self, rows: NDArray[np.int64]) -> Reading:
        """Return some sequences as model inputs: varlen for an encoder, else padded."""
        if self.frame.is_for_encoder:
            return as_varlen(self.sequences, rows, self.segment_starts)
        return as_padded(self.sequences, rows, self.frame.pad_id)


@dataclass(frozen=True)
class Pieces:
    """Chunks of texts with special tokens, each with the index of its text, in order."""

    framed: Framed
    owners: NDArray[np.int64]
    is_truncated: NDArray[np.bool_]
    """True for texts that were split into several chunks."""

    def __len__(self) -> int:
        return len(self.owners)

    @property
    def sequences(self) -> Sequences:
        """All chunks as ids."""
        return self.framed.sequences

    @property
    def lengths(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Source lengths (0) and target lengths (tokens) of each chunk."""
        lengths = self.sequences.lengths
        return np.zeros_like(lengths), lengths


def fingerprint_of(*arrays: NDArray[np.generic]) -> str:
    """Return a hash of the contents of arrays."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class EncodedExamples:
    """Examples as ids: example i has the sequences firsts[i] to firsts[i + 1] - 1."""

    framed: Framed
    firsts: NDArray[np.int64]
    labels: NDArray[np.int64] | NDArray[np.float64]
    is_truncated: NDArray[np.bool_]
    """True for examples that were truncated."""
    uses_pooling: bool = False
    """Use a pooled sequence, by its index, instead of the state of one token."""

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def sequences(self) -> Sequences:
        """All sequences of all examples."""
        return self.framed.sequences

    @property
    def lengths(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Source lengths (0) and target lengths (its sequences, padded to the longest) of each example."""
        widest = np.maximum.reduceat(self.sequences.lengths, self.firsts[:-1])
        return np.zeros_like(widest), widest * np.diff(self.firsts)

    def fingerprint(self) -> str:
        """Return a hash of all ids and labels: equal for the same examples and tokenizer."""
        return fingerprint_of(self.sequences.starts, self.sequences.ids, self.firsts, self.labels)

    def answers_in(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of predictions of each example: one."""
        return np.ones_like(rows)

    def batch(self, rows: NDArray[np.int64]) -> HeadBatch:
        """Return some of the examples as one batch."""
        counts = self.firsts[rows + 1] - self.firsts[rows]
        candidate_mask = np.arange(counts.max()) < counts[:, None]  # (B, K)
        chosen = (self.firsts[rows, None] + np.arange(candidate_mask.shape[1]))[candidate_mask]
        reading = self.framed.reading(chosen)
        # The first token of an encoder attends to all others; in a causal model only the last one does.
        steps = 0 if self.framed.frame.is_for_encoder else self.sequences.lengths[chosen] - 1
        positions = np.zeros(candidate_mask.shape, np.int64)
        positions[candidate_mask] = np.arange(len(chosen)) if self.uses_pooling else reading.begins + steps
        lm = (
            next_positions(reading.token_mask.numpy()) if isinstance(reading, PaddedInputs) else np.zeros(0, np.int64)
        )
        return HeadBatch(
            reading,
            torch.from_numpy(positions),
            torch.from_numpy(candidate_mask),
            torch.from_numpy(self.labels[rows]),
            torch.from_numpy(lm),
            reading.tokens.flatten()[lm + 1],
            len(rows),
            len(lm),
        )


def next_positions(token_mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the positions in the flat (R * T) that another token follows."""
    has_next = np.zeros_like(token_mask)
    has_next[:, :-1] = token_mask[:, 1:]
    return np.flatnonzero(has_next)


def encode_texts(
    texts: Sequence[Sequence[str]],
    labels: Sequence[int] | Sequence[float] | Sequence[list[float]],
    tokenizer: Tokenizer,
    frame: SequenceTemplate,
    limit: int,
    pairs: Pairs = "cross-encoder",
    progress: Progress = SILENT,
) -> EncodedExamples:
    """Return texts or pairs as sequences of at most `limit` tokens, special tokens included."""
    size = len(texts[0]) if texts else 1
    ids = encode_all([text for each in texts for text in each], tokenizer, progress)
    kept_texts, cut = list[list[Sequence[int]]](), list[bool]()
    for first in range(0, len(ids), size):
        parts = ids[first : first + size]
        if pairs == "bi-encoder":
            room = limit - frame.size(1)
            cut.append(max(map(len, parts)) > room)
            kept_texts += [[part[:room]] for part in parts]
            continue
        room = limit - frame.size(size)
        cut.append(sum(map(len, parts)) > room)
        kept = cut_ends(parts, room)
        kept_texts += [kept, kept[::-1]] if pairs == "both-orders" else [kept]
    firsts = np.arange(len(texts) + 1) * (1 if pairs == "cross-encoder" else 2)
    return EncodedExamples(Framed.of(frame, kept_texts), firsts, np.asarray(labels), np.asarray(cut, bool))


def encode_choices(
    examples: Sequence[MultipleChoiceRow],
    tokenizer: Tokenizer,
    frame: SequenceTemplate,
    limit: int,
    progress: Progress = SILENT,
) -> EncodedExamples:
    """Return each context with each of its choices as a sequence of at most `limit` tokens."""
    room = limit - frame.size(2)
    texts = [text for each in examples for text in (each.context, *each.choices)]
    ids = iter(encode_all(texts, tokenizer, progress))
    kept_texts, cut = list[list[Sequence[int]]](), list[bool]()
    for example in examples:
        context, choices = next(ids), [next(ids) for _ in example.choices]
        cut.append(len(context) + max(map(len, choices)) > room)
        kept_texts += [cut_beginning(context, choice, room) for choice in choices]
    firsts = np.cumsum([0, *(len(example.choices) for example in examples)])
    labels = np.asarray([example.label for example in examples], np.int64)
    return EncodedExamples(Framed.of(frame, kept_texts), firsts, labels, np.asarray(cut, bool))


def encode_all(texts: Sequence[str], tokenizer: Tokenizer, progress: Progress = SILENT) -> list[list[int]]:
    """Return the ids of texts, with a progress bar."""
    ids: list[list[int]] = []
    with progress.bar("encode", len(texts)) as bar:
        for start in range(0, len(texts), CHUNK):
            chunk = texts[start : start + CHUNK]
            ids += tokenizer.encode_batch(chunk)
            bar.advance(len(chunk))
    return ids
