"""Classification pipeline: the label of a text or text pair."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from regard.pipelines.head_scores import softmax
from regard.progress import SILENT, Progress
from regard.tasks.classify.records import ClassifyFacts
from regard.tasks.finetune.pipeline import Lines, TextPipeline, Texts


@dataclass(frozen=True)
class Classification:
    """The most probable label of a text or text pair, and the probability of every label."""

    texts: tuple[str, ...]
    label: str
    probabilities: dict[str, float]
    is_truncated: bool
    """The text was longer than the maximum length, and its end was left out."""

    @property
    def probability(self) -> float:
        """The probability of the label."""
        return self.probabilities[self.label]


class Classifier(TextPipeline):
    """Predicts the label of texts or text pairs."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of the outputs."""
        return tuple(ClassifyFacts.read(self.bundle).labels)

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
        """Classify one text (or pair, as a tuple), or a list of them, in order.

        `lines` are their line numbers, for messages.
        """
        if isinstance(text, str | tuple):
            return self._classify([text], lines or [1], progress)[0]
        return self._classify(text, lines or range(1, len(text) + 1), progress)

    def _classify(self, given: Sequence[Texts], lines: Sequence[int], progress: Progress) -> list[Classification]:
        labels = self.labels
        results = []
        for texts, scores, is_truncated in self._predict(given, lines, progress):
            probabilities = softmax(scores)
            label = labels[int(probabilities.argmax())]
            results.append(Classification(texts, label, dict(zip(labels, probabilities.tolist())), is_truncated))
        return results
