"""How well texts were foreseen: one figure over all their tokens, words or bytes."""

import math
from collections.abc import Sequence
from typing import Protocol


class Scored(Protocol):
    """Something that has a log probability for each of its tokens."""

    @property
    def log_probabilities(self) -> tuple[float, ...]:
        """One for each token."""


class ScoredText(Scored, Protocol):
    """A text that has."""

    @property
    def text(self) -> str:
        """The whole of it."""


def perplexity(scores: Sequence[Scored]) -> float:
    """Return e to the mean negative log probability of a token, over all scores."""
    return _per(scores, sum(len(score.log_probabilities) for score in scores))


def word_perplexity(scores: Sequence[ScoredText]) -> float:
    """Return e to the negative log probability of a word (what stands between white space), over all texts."""
    return _per(scores, sum(len(score.text.split()) for score in scores))


def bits_per_byte(scores: Sequence[ScoredText]) -> float:
    """Return the negative base-2 logarithm of the probability, by bytes of UTF-8, over all texts."""
    size = sum(len(score.text.encode()) for score in scores)
    return -_total(scores) / math.log(2) / size if size else math.nan


def _per(scores: Sequence[Scored], count: int) -> float:
    return math.exp(min(-_total(scores) / count, 700.0)) if count else math.nan


def _total(scores: Sequence[Scored]) -> float:
    return math.fsum(value for score in scores for value in score.log_probabilities)
