"""Predictions of a fine-tuned model, and its errors, as metrics and cards take them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from regard.pipelines.head_scores import Encoded


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


def describe_mix(mix: Mapping[str, float]) -> str:
    """Return the weight of each layer of an ELMo, and their common scale, as text."""
    return ", ".join(f"{name} {value:.3f}" for name, value in mix.items())
