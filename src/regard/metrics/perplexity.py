"""Perplexity of texts by token or word, and bits per byte."""

import math
from collections.abc import Sequence
from typing import Protocol


class Scored(Protocol):
    """An object with a log-probability for each of its tokens."""

    @property
    def log_probabilities(self) -> tuple[float, ...]:
        """The log-probability of each token, in nats."""


class ScoredText(Scored, Protocol):
    """A text with a log-probability for each of its tokens."""

    @property
    def text(self) -> str:
        """The full text."""


def perplexity(scores: Sequence[Scored]) -> float:
    """Return exp of the mean negative log-probability per token, over all scores."""
    return _per(scores, sum(len(score.log_probabilities) for score in scores))


def word_perplexity(scores: Sequence[ScoredText]) -> float:
    """Return exp of the mean negative log-probability per word (split at white space), over all texts."""
    return _per(scores, sum(len(score.text.split()) for score in scores))


def bits_per_byte(scores: Sequence[ScoredText]) -> float:
    """Return the negative log2-probability per byte of UTF-8, over all texts."""
    size = sum(len(score.text.encode()) for score in scores)
    return -_total(scores) / math.log(2) / size if size else math.nan


def _per(scores: Sequence[Scored], count: int) -> float:
    return math.exp(min(-_total(scores) / count, 700.0)) if count else math.nan


def _total(scores: Sequence[Scored]) -> float:
    return math.fsum(value for score in scores for value in score.log_probabilities)
