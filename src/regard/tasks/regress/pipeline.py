"""Text in, a number out; or a pair of texts in, and how far they belong together out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from regard.progress import SILENT, Progress
from regard.tasks.classify.pipeline import Texts
from regard.tasks.finetune.pipeline import HeadPipeline, Lines, as_texts, check_count, check_texts, encode_pairs


@dataclass(frozen=True)
class Regression:
    """The number of a text, or of a pair."""

    texts: tuple[str, ...]
    number: float
    is_truncated: bool
    """Whether the text was longer than the model reads, and lost its end."""


class Regressor(HeadPipeline):
    """Gives texts, or pairs of texts, a number."""

    @property
    def texts(self) -> int:
        """How many texts belong to one number: one, or two."""
        return int(self.bundle.facts["texts"])

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
        """Rate one text (or pair, as a tuple), or many of them, in a list, in their order.

        `lines` are their numbers in what they were taken from: messages name them.
        """
        if isinstance(text, str | tuple):
            return self._rate([text], lines or [1], progress)[0]
        return self._rate(text, lines or range(1, len(text) + 1), progress)

    def _rate(self, given: Sequence[Texts], lines: Sequence[int], progress: Progress) -> list[Regression]:
        rows = [as_texts(each, f"line {line:,}") for line, each in zip(lines, given, strict=True)]
        for line, texts in zip(lines, rows, strict=True):
            check_count(texts, self.texts, f"line {line:,}", "rates")
            check_texts(texts, f"line {line:,}")
        facts = self.bundle.facts
        stripped = [tuple(text.strip() for text in texts) for texts in rows]  # as they were learned from
        encoded = encode_pairs(self.bundle, stripped, [0.0] * len(rows))
        return [
            Regression(texts, facts["center"] + facts["spread"] * float(score), is_truncated)
            for texts, score, is_truncated in zip(
                rows, self._scores(encoded, progress), encoded.is_truncated.tolist(), strict=True
            )
        ]
