"""Classification pipeline: the label of a text or text pair."""

from dataclasses import dataclass
from typing import Annotated

from regard.config.schema import Doc
from regard.pipelines.base import Options, Plain, Result
from regard.pipelines.head_scores import Scores, softmax
from regard.pipelines.inputs import TextRow
from regard.tasks.classify.records import ClassifyFacts
from regard.tasks.finetune.pipeline import TextPipeline


class ClassifyOptions(Options):
    """Options of classification: none."""


@dataclass(frozen=True)
class Classification(Result):
    """The most probable label of a text or text pair, and the probability of every label."""

    row: TextRow
    label: Annotated[str, Doc("The most probable label.")]
    probabilities: Annotated[dict[str, float], Doc("The probability of every label.")]
    is_truncated: Annotated[bool, Doc("The text was longer than the maximum length, and its end was left out.")]

    columns = ("label", "probabilities")

    @property
    def text(self) -> str:
        """The label."""
        return self.label

    @property
    def probability(self) -> float:
        """The probability of the label."""
        return self.probabilities[self.label]

    def lines(self) -> list[str]:
        """Return the label and its probability."""
        return [f"{self.label}\t{self.probability:.4f}"]

    def to_dict(self) -> Plain:
        """Return the row, the label with its probability, and that of every label."""
        return super().to_dict() | {"probability": self.probability}


class Classifier(TextPipeline[ClassifyOptions, Classification]):
    """Predicts the label of texts or text pairs."""

    options_class = ClassifyOptions

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of the outputs."""
        return tuple(ClassifyFacts.read(self.bundle).labels)

    def result(self, row: TextRow, scores: Scores, is_truncated: bool, options: ClassifyOptions) -> Classification:
        """Return the most probable label."""
        labels, probabilities = self.labels, softmax(scores)
        label = labels[int(probabilities.argmax())]
        return Classification(row, label, dict(zip(labels, probabilities.tolist())), is_truncated)
