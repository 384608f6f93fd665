"""The likeliest answers out of the scores of begins and ends, over all windows of a text."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.data.encoding.question_windows import EncodedQuestions
from regard.pipelines.head_scores import Scores

CANDIDATES = 20
"""Spans of a window that are looked at further."""


@dataclass(frozen=True)
class SpanCandidate:
    """A span of a text, from one character to before another, and its score."""

    begin: int
    end: int
    score: float


@dataclass(frozen=True)
class Found:
    """The best spans for a question, the best first, and the score of there being no answer."""

    spans: tuple[SpanCandidate, ...]
    nothing: float

    @property
    def null_score_gap(self) -> float:
        """By how much the score of no answer exceeds that of the best span."""
        return self.nothing - self.spans[0].score if self.spans else float("inf")


def best_spans(scores: Scores, longest: int, count: int = CANDIDATES) -> list[tuple[float, int, int]]:
    """Return the best spans of a window as (score, first token, last token), the best first.

    `scores` (K, 2) are those of beginning and of ending at each token; token 0 stands for no answer. A span has
    `longest` tokens at most. All of them are looked at.
    """
    begins, ends = scores[1:, 0], scores[1:, 1]
    size = len(begins)
    if not size:
        return []
    width = min(longest, size)
    behind = np.concatenate([ends, np.full(width - 1, -np.inf)])
    sums = begins[:, None] + np.lib.stride_tricks.sliding_window_view(behind, width)  # (K - 1, longest)
    flat = sums.ravel()
    best = np.argpartition(-flat, min(count, len(flat)) - 1)[:count]
    best = best[np.argsort(-flat[best], kind="stable")]
    return [
        (float(flat[place]), 1 + int(place) // width, 1 + int(place) // width + int(place) % width)
        for place in best
        if np.isfinite(flat[place])
    ]


def find_answers(
    encoded: EncodedQuestions, scores: Sequence[Scores], questions: int, longest: int, count: int = CANDIDATES
) -> list[Found]:
    """Return the best spans for each question over all windows of its text; equal spans count once, the better one.

    No answer has the lowest score that any window gives it: an answer in one window is an answer.
    """
    spans: list[dict[tuple[int, int], float]] = [{} for _ in range(questions)]
    nothing: NDArray[np.float64] = np.full(questions, np.inf)
    for owner, offsets, values in zip(encoded.owners.tolist(), encoded.offsets, scores, strict=True):
        nothing[owner] = min(nothing[owner], float(values[0].sum()))
        for score, first, last in best_spans(values, longest, count):
            place = int(offsets[first - 1, 0]), int(offsets[last - 1, 1])
            spans[owner][place] = max(score, spans[owner].get(place, -np.inf))
    return [
        Found(
            tuple(
                SpanCandidate(*place, score)
                for place, score in sorted(each.items(), key=lambda item: (-item[1], item[0]))[:count]
            ),
            float(lowest),
        )
        for each, lowest in zip(spans, nothing, strict=True)
    ]
