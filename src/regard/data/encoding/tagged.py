"""Encoded tagged sentences: the first token of each word has its tag (Devlin et al., 2019, §5.3)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.encoding.labeled import Framed, HeadBatch, Pieces, fingerprint_of
from regard.data.encoding.sequences import Sequences
from regard.data.encoding.templates import SequenceTemplate
from regard.progress import SILENT, Progress
from regard.text.tokenizer import Tokenizer

CHUNK = 1024


@dataclass(frozen=True)
class EncodedTags(Pieces):
    """Chunks of sentences that fit the model, as ids, with the steps of their words' first tokens."""

    steps: Sequences
    """The step of each word's first token in its chunk."""
    labels: Sequences
    """The tag id of each word."""

    def fingerprint(self) -> str:
        """Return a hash of all ids and tags."""
        return fingerprint_of(self.sequences.starts, self.sequences.ids, self.steps.ids, self.labels.ids)

    def answers_in(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of words of each chunk."""
        return self.steps.lengths[rows]

    def batch(self, rows: NDArray[np.int64]) -> HeadBatch:
        """Return some of the chunks as one batch with a label for each word."""
        reading = self.framed.reading(rows)
        steps = self.steps.select(rows)
        positions = np.repeat(reading.begins, steps.lengths) + steps.ids
        nothing = torch.zeros(0, dtype=torch.int64)
        return HeadBatch(
            reading,
            torch.from_numpy(positions)[:, None],
            torch.ones(len(positions), 1, dtype=torch.bool),
            torch.from_numpy(self.labels.select(rows).ids.astype(np.int64)),
            nothing,
            nothing,
            len(positions),
            0,
        )


def encode_tagged(
    words: Sequence[Sequence[str]],
    labels: Sequence[Sequence[int]] | None,
    tokenizer: Tokenizer,
    frame: SequenceTemplate,
    limit: int,
    progress: Progress = SILENT,
) -> EncodedTags:
    """Return sentences as sequences of at most `limit` tokens; a longer one is split into chunks."""
    chunks, steps, counted, owners = list[list[list[int]]](), list[list[int]](), list[int](), list[int]()
    with progress.bar("encode", len(words)) as bar:
        for begin in range(0, len(words), CHUNK):
            chunk = words[begin : begin + CHUNK]
            for owner, sentence in enumerate(tokenizer.encode_words(chunk), start=begin):
                for part in _parts(sentence, limit - frame.size(1)):
                    chunks.append([[number for word in part for number in word]])
                    steps.append((1 + np.cumsum([0, *map(len, part[:-1])])).tolist())
                    counted.append(len(part))
                    owners.append(owner)
            bar.advance(len(chunk))
    numbers = [number for row in labels for number in row] if labels is not None else [0] * sum(counted)
    starts = np.cumsum([0, *counted])
    return EncodedTags(
        Framed.of(frame, chunks),
        np.asarray(owners, np.int64),
        np.bincount(np.asarray(owners, np.int64), minlength=len(words)) > 1,
        Sequences.of(steps),
        Sequences(np.asarray(numbers, np.int32), starts),
    )


def _parts(words: list[list[int]], room: int) -> list[list[list[int]]]:
    """Return the words of a sentence in parts that fit; a word that does not fit alone is truncated."""
    parts: list[list[list[int]]] = [[]]
    size = 0
    for word in words:
        word = word[:room]
        if size + len(word) > room:
            parts.append([])
            size = 0
        parts[-1].append(word)
        size += len(word)
    return parts
