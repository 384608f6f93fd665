"""Span search: the best answers by the scores of their first and last tokens, over all windows of a text."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.data.encoding.question_windows import EncodedQuestions
from regard.pipelines.head_scores import Scores

CANDIDATES = 20
"""Number of spans kept of each window."""


@dataclass(frozen=True)
class SpanCandidate:
    """A span of a text by character offsets (end exclusive), and its score."""

    begin: int
    end: int
    score: float


@dataclass(frozen=True)
class SpanCandidates:
    """The best spans for a question, the best first, and the score of no answer."""

    spans: tuple[SpanCandidate, ...]
    null_score: float

    @property
    def null_score_gap(self) -> float:
        """Score of no answer minus score of the best span; infinite without a span."""
        return self.null_score - self.spans[0].score if self.spans else float("inf")


def best_spans(scores: Scores, max_tokens: int, count: int = CANDIDATES) -> list[tuple[float, int, int]]:
    """Return the best spans of a window as (score, first token, last token), the best first.

    `scores` (K, 2) are those of each token as the first and as the last; token 0 stands for no answer. The search
    over all spans of up to `max_tokens` tokens is exhaustive.
    """
    starts, ends = scores[1:, 0], scores[1:, 1]
    size = len(starts)
    if not size:
        return []
    width = min(max_tokens, size)
    padded = np.concatenate([ends, np.full(width - 1, -np.inf)])
    sums = starts[:, None] + np.lib.stride_tricks.sliding_window_view(padded, width)  # (K - 1, width)
    flat = sums.ravel()
    best = np.argpartition(-flat, min(count, len(flat)) - 1)[:count]
    best = best[np.argsort(-flat[best], kind="stable")]
    return [
        (float(flat[index]), 1 + index // width, 1 + index // width + index % width)
        for index in best.tolist()
        if np.isfinite(flat[index])
    ]


def search_answers(
    encoded: EncodedQuestions, scores: Sequence[Scores], questions: int, max_tokens: int, count: int = CANDIDATES
) -> list[SpanCandidates]:
    """Return the best spans for each question over all windows of its text; of equal spans, the better counts.

    The score of no answer is its minimum over the windows: an answer in one window is an answer.
    """
    spans: list[dict[tuple[int, int], float]] = [{} for _ in range(questions)]
    null_scores: NDArray[np.float64] = np.full(questions, np.inf)
    for owner, offsets, values in zip(encoded.owners.tolist(), encoded.offsets, scores, strict=True):
        null_scores[owner] = min(null_scores[owner], float(values[0].sum()))
        for score, first, last in best_spans(values, max_tokens, count):
            span = int(offsets[first - 1, 0]), int(offsets[last - 1, 1])
            spans[owner][span] = max(score, spans[owner].get(span, -np.inf))
    return [
        SpanCandidates(
            tuple(
                SpanCandidate(*span, score)
                for span, score in sorted(each.items(), key=lambda item: (-item[1], item[0]))[:count]
            ),
            float(lowest),
        )
        for each, lowest in zip(spans, null_scores, strict=True)
    ]
