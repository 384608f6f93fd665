"""What a translator answers: small frozen values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Candidate:
    """One way to translate a text: its tokens, its log probability, and that with all penalties."""

    text: str
    score: float
    log_probability: float
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    is_finished: bool
    """Whether it ended by itself, and was not cut off at the length limit."""


@dataclass(frozen=True)
class Translation:
    """The best translation of a text, and all that the search kept, best first."""

    source: str
    text: str
    score: float
    tokens: tuple[str, ...]
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Alternative:
    """A token that could come next, its probability, and the translation that goes on from it."""

    token: str
    probability: float
    text: str


@dataclass(frozen=True)
class PairScore:
    """How probable a target is, given its source: each of its tokens, the end token too, and all of them."""

    source: str
    target: str
    tokens: tuple[str, ...]
    log_probabilities: tuple[float, ...]

    @property
    def log_probability(self) -> float:
        """The sum over all tokens."""
        return math.fsum(self.log_probabilities)

    @property
    def perplexity(self) -> float:
        """The perplexity of this pair alone."""
        return perplexity([self])


def perplexity(scores: Sequence[PairScore]) -> float:
    """Return e to the mean negative log probability of a token, over all pairs."""
    total = math.fsum(value for score in scores for value in score.log_probabilities)
    count = sum(len(score.log_probabilities) for score in scores)
    return math.exp(min(-total / count, 700.0)) if count else math.nan
