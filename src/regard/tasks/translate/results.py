"""What a translator answers: small frozen values."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from regard.decoding.steppers.interface import Hypothesis
from regard.metrics.perplexity import perplexity
from regard.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class TranslationCandidate:
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
    """The best translation of a text, and all that the search kept."""

    source: str
    text: str
    score: float
    tokens: tuple[str, ...]
    find_candidates: Callable[[], tuple[TranslationCandidate, ...]] = field(repr=False, compare=False)

    @cached_property
    def candidates(self) -> tuple[TranslationCandidate, ...]:
        """All that the search kept, best first; put into words when first asked for, which most never are."""
        return self.find_candidates()


def in_words(writer: Tokenizer, hypotheses: Sequence[Hypothesis]) -> tuple[TranslationCandidate, ...]:
    """Return hypotheses in words."""
    texts = writer.decode_batch(hypothesis.ids for hypothesis in hypotheses)
    return tuple(
        TranslationCandidate(
            text,
            hypothesis.score,
            hypothesis.log_probability,
            tuple(writer.tokens(hypothesis.ids)),
            tuple(hypothesis.ids),
            hypothesis.is_finished,
        )
        for text, hypothesis in zip(texts, hypotheses, strict=True)
    )


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
