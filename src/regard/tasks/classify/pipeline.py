"""Classification pipeline: the label of a text or text pair."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import Field

from regard.config.schema import Doc
from regard.errors import ConfigError
from regard.pipelines.base import Options, Plain, Result
from regard.pipelines.head_scores import Scores, sigmoid, softmax
from regard.pipelines.inputs import TextRow
from regard.tasks.classify.records import ClassifyFacts
from regard.tasks.finetune.pipeline import TextPipeline


class ClassifyOptions(Options):
    """Options of classification."""

    threshold: float | None = Field(None, gt=0, lt=1)
    """Probability from which a multi-label model assigns a label (default: the checkpoint's)."""


@dataclass(frozen=True)
class Classification(Result):
    """The most probable label of a text or text pair, and the probability of every label."""

    row: TextRow
    label: Annotated[str, Doc("The most probable label.")]
    probabilities: Annotated[dict[str, float], Doc("The probability of every label.")]
    is_truncated: Annotated[bool, Doc("The text was longer than the maximum length, and its end was left out.")]

    labels: Annotated[tuple[str, ...] | None, Doc("The labels that a multi-label model assigns.")] = None

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


@dataclass(frozen=True)
class MultiLabelClassification(Classification):
    """All labels of a text whose probability reaches the threshold, the most probable first; they may be none."""

    columns = ("labels", "probabilities")

    @property
    def text(self) -> str:
        """The labels with | between them."""
        return "|".join(self.labels or ())

    def lines(self) -> list[str]:
        """Return the labels, each with its probability."""
        return ["\t".join(f"{label}\t{self.probabilities[label]:.4f}" for label in self.labels or ())]


class Classifier(TextPipeline[ClassifyOptions, Classification]):
    """Predicts the label of texts or text pairs."""

    options_class = ClassifyOptions

    @property
    def facts(self) -> ClassifyFacts:
        """The labels, and whether a text may have several."""
        return ClassifyFacts.read(self.bundle)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order of the outputs."""
        return tuple(self.facts.labels)

    def with_threshold(self, threshold: float | None) -> "Classifier":
        """Return the same model with another threshold; None: its own."""
        if threshold is None:
            return self
        return Classifier(replace(self.bundle, facts=self.bundle.facts | {"threshold": threshold}))

    def result(self, row: TextRow, scores: Scores, is_truncated: bool, options: ClassifyOptions) -> Classification:
        """Return the most probable label."""
        labels, facts = self.labels, self.facts
        probabilities = (sigmoid if facts.is_multi_label else softmax)(scores)
        by_label = dict(zip(labels, probabilities.tolist(), strict=True))
        label = labels[int(probabilities.argmax())]
        if not facts.is_multi_label:
            return Classification(row, label, by_label, is_truncated)
        chosen = assigned(by_label, options.threshold or facts.threshold)
        return MultiLabelClassification(row, label, by_label, is_truncated, chosen)

    def check(self, row: TextRow, options: ClassifyOptions, where: str) -> None:
        """Refuse a threshold for a single-label model, and rows that are not its texts."""
        check_threshold(options.threshold, self.facts, where)
        super().check(row, options, where)


def check_threshold(threshold: float | None, facts: ClassifyFacts, where: str) -> None:
    """Refuse a threshold for a single-label model."""
    if threshold is not None and not facts.is_multi_label:
        raise ConfigError(
            f"{where}: threshold {threshold:g} is for multi-label models; this one is a single-label model."
        )


def assigned(probabilities: Mapping[str, float], threshold: float) -> tuple[str, ...]:
    """Return the labels whose probability reaches a threshold, the most probable first."""
    chosen = [label for label, value in probabilities.items() if value >= threshold]
    return tuple(sorted(chosen, key=lambda label: -probabilities[label]))
