"""The results of a translator, as frozen dataclasses."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from regard.data.sources.pair import Pair
from regard.decoding.steppers.interface import FinishReason, Hypothesis
from regard.metrics.perplexity import perplexity
from regard.pipelines.base import Plain, Result
from regard.pipelines.plain_values import plain
from regard.tasks.translate.options import SourceRow
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
class Translation(Result):
    """The best translation of a text, and all final hypotheses."""

    row: SourceRow
    text: str
    score: float
    tokens: tuple[str, ...]
    find_candidates: Callable[[], tuple[TranslationCandidate, ...]] = field(repr=False, compare=False)
    n_best: int | None = field(default=None, repr=False, compare=False)
    """Candidates that were asked for (default: one)."""

    columns = ("translation", "score")

    @property
    def source(self) -> str:
        """The text that was given."""
        return self.row.source

    @property
    def translation(self) -> str:
        """The text of the best translation."""
        return self.text

    @cached_property
    def candidates(self) -> tuple[TranslationCandidate, ...]:
        """All final hypotheses, best first; detokenized on first use."""
        return self.find_candidates()

    def to_dict(self) -> Plain:
        """Return the source, the best translation with its score and tokens, and the candidates asked for."""
        return super().to_dict() | {"candidates": plain(self.candidates[: self.n_best or 1])}


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
class PairScore(Result):
    """Log probabilities of the tokens of a target, EOS included, given its source."""

    row: Pair
    tokens: tuple[str, ...]
    log_probabilities: tuple[float, ...]

    columns = ("log_probability", "perplexity")

    @property
    def source(self) -> str:
        """The source."""
        return self.row.source

    @property
    def target(self) -> str:
        """Its translation."""
        return self.row.target

    @property
    def text(self) -> str:
        """The log probability."""
        return f"{self.log_probability:.4f}"

    @property
    def log_probability(self) -> float:
        """The sum over all tokens."""
        return math.fsum(self.log_probabilities)

    @property
    def perplexity(self) -> float:
        """The perplexity of this pair alone."""
        return perplexity([self])

    def to_dict(self) -> Plain:
        """Return the pair, its log probability and perplexity, and the log probability of each token."""
        return super().to_dict() | self.record()
