"""The results of a translator, as frozen dataclasses."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from regard.data.sources.pair import Pair
from regard.decoding.settings import FinishReason
from regard.metrics.perplexity import perplexity
from regard.pipelines.base import Plain, Result
from regard.pipelines.plain_values import plain
from regard.tasks.translate.options import SourceRow
from regard.text.detokenizer import first_stop
from regard.text.tokenizer import Tokenizer

if TYPE_CHECKING:
    from regard.decoding.steppers.interface import Hypothesis


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
    sentences: "tuple[Translation, ...] | None" = None
    """Those of the sentences of a text that was translated sentence by sentence."""

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

    @property
    def listed(self) -> tuple[TranslationCandidate, ...]:
        """The candidates that were asked for."""
        return self.candidates[: self.n_best or 1]

    def lines(self) -> list[str]:
        """Return the translation on a line, as it is if it has sentences; or the rank and score of each candidate."""
        return self.numbered(None)

    def numbered(self, number: int | None) -> list[str]:
        """Return its lines; with several candidates, each after the number of the row."""
        if self.sentences:
            return [self.text]
        if (self.n_best or 1) == 1:
            return [" ".join(self.text.splitlines())]
        row = "" if number is None else f"{number}\t"
        texts = [(each.score, " ".join(each.text.splitlines())) for each in self.listed]
        return [f"{row}{rank}\t{score:.4f}\t{text}" for rank, (score, text) in enumerate(texts, 1)]

    def to_dict(self) -> Plain:
        """Return the source, the best translation with its score and tokens, and the candidates asked for."""
        return super().to_dict() | {"candidates": plain(self.listed)}

    def record(self) -> Plain:
        """Return the values of its columns, and the texts of several candidates."""
        return super().record() | ({"outputs": [each.text for each in self.listed]} if self.n_best else {})

    def cells(self) -> dict[str, str]:
        """Return the values of its columns as text, those of several candidates as JSON."""
        several = {"outputs": json.dumps(self.record()["outputs"], ensure_ascii=False)} if self.n_best else {}
        return super().cells() | several


def detokenized(
    tokenizer: Tokenizer, hypotheses: "Sequence[Hypothesis]", stops: Sequence[str] = ()
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

    probability: float
    token: str
    text: str


@dataclass(frozen=True)
class PairScore(Result):
    """Log probabilities of the tokens of a target, EOS included, given its source."""

    row: Pair
    tokens: tuple[str, ...]
    log_probabilities: tuple[float, ...]

    columns = ("log_probability", "perplexity")

    @staticmethod
    def totals(scores: "Sequence[PairScore]") -> dict[str, float]:
        """Return the metrics of all tokens."""
        return {
            "perplexity": perplexity(scores),
            "log_probability": math.fsum(each.log_probability for each in scores),
            "tokens": sum(len(each.tokens) for each in scores),
        }

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
