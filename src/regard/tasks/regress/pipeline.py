"""Regression pipeline: a number for a text, or the similarity of a text pair."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from regard.progress import SILENT, Progress
from regard.tasks.finetune.pipeline import Lines, TextPipeline, Texts
from regard.tasks.regress.records import RegressFacts


@dataclass(frozen=True)
class Regression:
    """The predicted number of a text or text pair."""

    texts: tuple[str, ...]
    number: float
    is_truncated: bool
    """The text was longer than the maximum length, and its end was left out."""


class Regressor(TextPipeline):
    """Predicts a number for texts or text pairs."""

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
        """Predict for one text (or pair, as a tuple), or a list of them, in order.

        `lines` are their line numbers, for messages.
        """
        if isinstance(text, str | tuple):
            return self._regress([text], lines or [1], progress)[0]
        return self._regress(text, lines or range(1, len(text) + 1), progress)

    def _regress(self, given: Sequence[Texts], lines: Sequence[int], progress: Progress) -> list[Regression]:
        facts = RegressFacts.read(self.bundle)
        return [
            Regression(texts, facts.center + facts.spread * float(score), is_truncated)
            for texts, score, is_truncated in self._predict(given, lines, progress)
        ]
