"""What an objective gives back: named parts, each a sum, a count and a weight."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor


@dataclass(frozen=True)
class LossPart:
    """One term of a loss: summed over `count` places; a weight of 0 means that it is only reported."""

    sum: Tensor
    count: int
    weight: float = 1.0


Loss = dict[str, LossPart]


class Objective(Protocol):
    """Turns a model's outputs for a batch into a loss."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of its parts, the one to show first."""

    def counts(self, batch: Any) -> dict[str, int]:
        """Return the count of every part, before any forward pass."""

    def __call__(self, model: Any, batch: Any) -> Loss:
        """Return the parts of the loss for one micro-batch."""


def scaled_total(loss: Loss, counts: Mapping[str, int]) -> Tensor:
    """Return what to call `backward` on: each part's sum over the count of the *whole* update.

    Adding these up over micro-batches and processes gives the mean over the update, however it was cut. An update
    without any label, such as a window inside one endless word, has gradients of nothing.
    """
    terms = [part.weight * part.sum / counts[name] for name, part in loss.items() if part.weight and counts[name]]
    terms = terms or [0.0 * part.sum for part in loss.values()]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total
