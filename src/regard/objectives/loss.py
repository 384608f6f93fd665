"""Losses: named parts, each a sum, a count and a weight."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor


@dataclass(frozen=True)
class LossPart:
    """One term of a loss, summed over `count` labels; a part of weight 0 is only reported."""

    sum: Tensor
    count: int
    weight: float = 1.0


Loss = dict[str, LossPart]


class Objective(Protocol):
    """Computes the loss of a model on a batch."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of its parts; the first is displayed."""

    def counts(self, batch: Any) -> dict[str, int]:
        """Return the count of every part, before any forward pass."""

    def __call__(self, model: Any, batch: Any) -> Loss:
        """Return the parts of the loss for one micro-batch."""


def scaled_total(loss: Loss, counts: Mapping[str, int]) -> Tensor:
    """Return the scalar for `backward`: each part's weighted sum over the count of the *whole* update.

    Summed over micro-batches and processes it is the mean over the update, however it was split. An update without
    any label, such as a window inside one endless word, has gradients of 0.
    """
    terms = [part.weight * part.sum / counts[name] for name, part in loss.items() if part.weight and counts[name]]
    terms = terms or [0.0 * part.sum for part in loss.values()]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total
