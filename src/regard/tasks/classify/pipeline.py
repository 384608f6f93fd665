"""Classification: text in, a label out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from regard.pipelines.head_scores import softmax
from regard.progress import SILENT, Progress
from regard.tasks.classify.records import ClassifyFacts
from regard.tasks.finetune.pipeline import (
    HeadPipeline,
    Lines,
    Texts,
    as_texts,
    check_count,
    check_texts,
    encode_pairs,
)


@dataclass(frozen=True)
class Classification:
    """The most probable label of a text, or of a pair, and the probability of every label."""

    texts: tuple[str, ...]
    label: str
    probabilities: dict[str, float]
    is_truncated: bool
    """Whether the text was longer than the model takes, and lost its end."""

    @property
    def probability(self) -> float:
        """The probability of the label."""
        return self.probabilities[self.label]


class Classifier(HeadPipeline):
    """Labels texts, or pairs of texts."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of the outputs."""
        return tuple(ClassifyFacts.read(self.bundle).labels)

    @property
    def texts(self) -> int:
        """The number of texts of an example: one, or two."""
        return ClassifyFacts.read(self.bundle).texts

    @overload
    def __call__(self, text: Texts, *, lines: Lines = None, progress: Progress = SILENT) -> Classification: ...
    @overload
    def __call__(
        self,
        text: list[str] | list[tuple[str, str]],
        *,
        lines: Lines = None,
        progress: Progress = SILENT,
    ) -> list[Classification]: ...
    def __call__(
        self,
        text: Texts | list[str] | list[tuple[str, str]],
        *,
        lines: Lines = None,
        progress: Progress = SILENT,
    ) -> Classification | list[Classification]:
        """Label one text (or pair, as a tuple), or many of them, in a list, in their order.

        `lines` are their line numbers, for messages.
        """
        if isinstance(text, str | tuple):
            return self._classify([text], lines or [1], progress)[0]
        return self._classify(text, lines or range(1, len(text) + 1), progress)

    def _classify(self, given: Sequence[Texts], lines: Sequence[int], progress: Progress) -> list[Classification]:
        rows = [as_texts(each, f"line {line:,}") for line, each in zip(lines, given, strict=True)]
        for line, texts in zip(lines, rows, strict=True):
            check_count(texts, self.texts, f"line {line:,}")
            check_texts(texts, f"line {line:,}")
        stripped = [tuple(text.strip() for text in texts) for texts in rows]  # as in training
        encoded = encode_pairs(self.bundle, stripped, [0] * len(rows))
        labels = self.labels
        probabilities = [softmax(each) for each in self._scores(encoded, progress)]
        return [
            Classification(texts, labels[int(each.argmax())], dict(zip(labels, each.tolist())), is_truncated)
            for texts, each, is_truncated in zip(rows, probabilities, encoded.is_truncated.tolist(), strict=True)
        ]
