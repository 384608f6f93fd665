"""Regression: text in, a number out; or a pair of texts in, their similarity out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from regard.progress import SILENT, Progress
from regard.tasks.finetune.pipeline import (
    HeadPipeline,
    Lines,
    Texts,
    as_texts,
    check_count,
    check_texts,
    encode_pairs,
)
from regard.tasks.regress.records import RegressFacts


@dataclass(frozen=True)
class Regression:
    """The number of a text, or of a pair."""

    texts: tuple[str, ...]
    number: float
    is_truncated: bool
    """Whether the text was longer than the model takes, and lost its end."""


class Regressor(HeadPipeline):
    """Predicts a number for texts, or for pairs of texts."""

    @property
    def texts(self) -> int:
        """The number of texts of an example: one, or two."""
        return RegressFacts.read(self.bundle).texts

    @overload
    def __call__(self, text: Texts, *, lines: Lines = None, progress: Progress = SILENT) -> Regression: ...
    @overload
    def __call__(
        self, text: list[str] | list[tuple[str, str]], *, lines: Lines = None, progress: Progress = SILENT
    ) -> list[Regression]: ...
    def __call__(
        self,
        text: Texts | list[str] | list[tuple[str, str]],
        *,
        lines: Lines = None,
        progress: Progress = SILENT,
    ) -> Regression | list[Regression]:
        """Predict for one text (or pair, as a tuple), or many of them, in a list, in their order.

        `lines` are their line numbers, for messages.
        """
        if isinstance(text, str | tuple):
            return self._rate([text], lines or [1], progress)[0]
        return self._rate(text, lines or range(1, len(text) + 1), progress)

    def _rate(self, given: Sequence[Texts], lines: Sequence[int], progress: Progress) -> list[Regression]:
        rows = [as_texts(each, f"line {line:,}") for line, each in zip(lines, given, strict=True)]
        for line, texts in zip(lines, rows, strict=True):
            check_count(texts, self.texts, f"line {line:,}")
            check_texts(texts, f"line {line:,}")
        facts = RegressFacts.read(self.bundle)
        stripped = [tuple(text.strip() for text in texts) for texts in rows]  # as in training
        encoded = encode_pairs(self.bundle, stripped, [0.0] * len(rows))
        return [
            Regression(texts, facts.center + facts.spread * float(score), is_truncated)
            for texts, score, is_truncated in zip(
                rows, self._scores(encoded, progress), encoded.is_truncated.tolist(), strict=True
            )
        ]
