"""Predictions of a fine-tuned model, and its errors, as metrics and cards take them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from regard.pipelines.head_scores import Encoded
from regard.tasks.declarations import ScoreTable
from regard.tasks.evaluation import Values
from regard.tasks.finetune.records import HeadScores, describe_mix

if TYPE_CHECKING:
    from regard.tasks.card import CardInput


class EncodedRows(Encoded, Protocol):
    """Examples as ids, to be trained on."""

    @property
    def is_truncated(self) -> Any:
        """A boolean array (N,): the examples that were truncated."""

    def fingerprint(self) -> str:
        """Return a hash of all ids and labels."""


@dataclass(frozen=True)
class ErrorExample:
    """A wrong prediction: the texts, the true label, the predicted one, and its probability where there is one."""

    texts: list[str]
    label: str
    predicted: str
    probability: float | None


@dataclass(frozen=True)
class Predictions:
    """The predictions for some examples: a line each (as in a passport), their probabilities, and the mean loss."""

    lines: list[str]
    confidence: list[float]
    loss: float
    details: Any = None
    """Further outputs that the metrics of one task need."""


@dataclass(frozen=True)
class ScoreName:
    """One of the main scores of a set: the key of its metric, its label, and the rule it is computed by."""

    metric: str
    label: str
    rule: str = ""


class HeadReports:
    """The part of a fine-tuning task that shows scores."""

    def score_lines(self, scores: Mapping[str, Values]) -> list[str]:
        """Return the weights of an ELMo's layers."""
        mix = next(iter(scores.values())).get("mix")
        return [f"learned weights of the layers: {describe_mix(mix)}"] if mix else []

    def score_tables(self, name: str, values: Values) -> list[ScoreTable]:
        """Return the metrics of each label."""
        classes = HeadScores.model_validate(values).classes
        rows = [(each.label, f"{each.count:,}", *each.numbers) for each in classes]
        header = ("label", "examples", "precision", "recall", "F1")
        return [ScoreTable(f"{name} by label", header, rows)] if rows else []

    def score_details(self, card: "CardInput", name: str, values: Values) -> list[str]:
        """Return the metrics of each label, the confusion matrix and the most confident errors of a set."""
        from regard.tasks.finetune.card import score_details

        return score_details(card, name, HeadScores.model_validate(values))

    def describe(self, card: "CardInput") -> list[str]:
        """Return the section on the data."""
        from regard.tasks.finetune.card import data_section

        return data_section(card)
