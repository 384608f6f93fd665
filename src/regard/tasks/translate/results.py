"""The results of a translator, as frozen dataclasses."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from regard.decoding.steppers.interface import FinishReason, Hypothesis
from regard.metrics.perplexity import perplexity
from regard.text.detokenizer import first_stop
from regard.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class TranslationCandidate:
    """One hypothesis: its text, tokens, log probability, and score (with length and other penalties)."""

    text: str
    score: float
    log_probability: float
    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    finish_reason: FinishReason
    """eos: EOS; length: cut off at the maximum length; stop: a stop string."""


@dataclass(frozen=True)
class Translation:
    """The best translation of a text, and all final hypotheses."""

    source: str
    text: str
    score: float
    tokens: tuple[str, ...]
    find_candidates: Callable[[], tuple[TranslationCandidate, ...]] = field(repr=False, compare=False)

    @cached_property
    def candidates(self) -> tuple[TranslationCandidate, ...]:
        """All final hypotheses, best first; detokenized on first use."""
        return self.find_candidates()


def detokenized(
    tokenizer: Tokenizer, hypotheses: Sequence[Hypothesis], stops: Sequence[str] = ()
) -> tuple[TranslationCandidate, ...]:
    """Return hypotheses with their texts, up to the first stop string, and tokens."""
    texts = tokenizer.decode_batch(hypothesis.ids for hypothesis in hypotheses)
    return tuple(
        TranslationCandidate(
            text[: first_stop(text, stops)],
            hypothesis.score,
            hypothesis.log_probability,
            tuple(tokenizer.tokens(hypothesis.ids)),
            tuple(hypothesis.ids),
            hypothesis.finish_reason,
        )
        for text, hypothesis in zip(texts, hypotheses, strict=True)
    )


@dataclass(frozen=True)
class Alternative:
    """A possible next token, its probability, and the translation that continues with it."""

    token: str
    probability: float
    text: str


@dataclass(frozen=True)
class PairScore:
    """Log probabilities of the tokens of a target, EOS included, given its source."""

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
