"""Predictions of a fine-tuned model, and its errors, as metrics and cards take them."""

from dataclasses import dataclass
from typing import Any, Protocol

from regard.pipelines.head_scores import Encoded


class EncodedRows(Encoded, Protocol):
    """Examples as ids, to be trained on."""

    @property
    def is_truncated(self) -> Any:
        """Which examples were too long to be encoded whole."""

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
    """The predictions for some examples: a line each, as a passport keeps it, their probabilities, and the loss."""

    lines: list[str]
    confidence: list[float]
    loss: float
    details: Any = None
    """What the metrics of one task need beside them."""


@dataclass(frozen=True)
class ScoreName:
    """A metric that a set is known by: its key, its label, and the rule it is computed by."""

    metric: str
    label: str
    rule: str = ""
