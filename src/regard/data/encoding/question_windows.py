"""Encoded questions and contexts: a long context is split into overlapping windows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.encoding.labeled import Framed, HeadBatch, Pieces, fingerprint_of
from regard.data.encoding.templates import SequenceTemplate
from regard.data.sources.squad import GoldAnswer, QuestionRow
from regard.progress import SILENT, Progress
from regard.text.tokenizer import Tokenizer

CHUNK = 256
QUESTION_PART = 4
"""A question is truncated to one part in so many of a window."""


@dataclass(frozen=True)
class EncodedQuestions(Pieces):
    """Questions, each followed by a window of its context, as ids; labels are the answer's first and last token.

    Tokens are numbered from 1 within a window; 0 is the first token of the sequence, which means no answer.
    """

    labels: NDArray[np.int64]  # (R, 2)
    offsets: tuple[NDArray[np.int64], ...]  # of each window (n, 2): character offsets of its tokens in the context

    def fingerprint(self) -> str:
        """Return a hash of all ids and answers."""
        return fingerprint_of(self.sequences.starts, self.sequences.ids, self.owners, self.labels)

    def answers_in(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of predictions of each window: one."""
        return np.ones_like(rows)

    def batch(self, rows: NDArray[np.int64]) -> HeadBatch:
        """Return some of the windows as one batch."""
        reading = self.framed.reading(rows)
        counts = np.fromiter((1 + len(self.offsets[row]) for row in rows), np.int64, count=len(rows))
        number = np.arange(counts.max())
        candidate_mask = number < counts[:, None]  # (R, K)
        steps = np.where(number == 0, 0, self.framed.segment_starts[rows, None] + number - 1)
        positions = np.where(candidate_mask, reading.begins[:, None] + steps, 0)
        nothing = torch.zeros(0, dtype=torch.int64)
        return HeadBatch(
            reading,
            torch.from_numpy(positions),
            torch.from_numpy(candidate_mask),
            torch.from_numpy(self.labels[rows]),
            nothing,
            nothing,
            len(rows),
            0,
        )


def encode_questions(
    questions: Sequence[QuestionRow],
    tokenizer: Tokenizer,
    frame: SequenceTemplate,
    limit: int,
    stride: int,
    progress: Progress = SILENT,
) -> EncodedQuestions:
    """Return all windows of all questions, at most `limit` tokens long and `stride` tokens apart."""
    texts, labels, owners = list[list[list[int]]](), list[tuple[int, int]](), list[int]()
    offsets = list[NDArray[np.int64]]()
    with progress.bar("encode", len(questions)) as bar:
        for begin in range(0, len(questions), CHUNK):
            chunk = questions[begin : begin + CHUNK]
            asked = tokenizer.encode_batch([each.question.strip() for each in chunk])
            contexts = list(dict.fromkeys(each.context for each in chunk))
            encoded = dict(zip(contexts, tokenizer.encode_with_offsets(contexts)))
            for number, (each, words) in enumerate(zip(chunk, asked, strict=True), start=begin):
                words = words[: limit // QUESTION_PART]
                context = encoded[each.context]
                spans = np.asarray(context.offsets, np.int64).reshape(-1, 2)
                answer = _span(spans, majority_answer(each))
                for first, last in _windows(len(context.ids), limit - frame.size(2) - len(words), stride):
                    texts.append([words, context.ids[first:last]])
                    labels.append(_within(answer, first, last))
                    owners.append(number)
                    offsets.append(spans[first:last])
            bar.advance(len(chunk))
    indices = np.asarray(owners, np.int64)
    return EncodedQuestions(
        Framed.of(frame, texts),
        indices,
        np.bincount(indices, minlength=len(questions)) > 1,
        np.asarray(labels, np.int64).reshape(-1, 2),
        tuple(offsets),
    )


def majority_answer(question: QuestionRow) -> GoldAnswer | None:
    """Return the most frequent answer that occurs in the context, the first of equals; None if there is none."""
    counted = Counter(answer for answer in question.answers if answer.start >= 0)
    return counted.most_common(1)[0][0] if counted else None


def _span(offsets: NDArray[np.int64], answer: GoldAnswer | None) -> tuple[int, int] | None:
    """Return the first and the last token that overlap with an answer; None if none does."""
    if answer is None:
        return None
    begin, end = answer.start, answer.start + len(answer.text)
    shared = np.flatnonzero((offsets[:, 0] < end) & (offsets[:, 1] > begin))
    return (int(shared[0]), int(shared[-1])) if len(shared) else None


def _windows(length: int, room: int, stride: int) -> list[tuple[int, int]]:
    """Return (begin, end) of the windows of a text, a stride apart, until one reaches the end."""
    step = min(stride, room)
    begins = range(0, max(1, length - room + step), step)
    return [(begin, min(length, begin + room)) for begin in begins]


def _within(span: tuple[int, int] | None, first: int, last: int) -> tuple[int, int]:
    """Return the answer's first and last token in a window; (0, 0) if it is not completely inside."""
    if span is None or span[0] < first or span[1] >= last:
        return 0, 0
    return span[0] - first + 1, span[1] - first + 1
