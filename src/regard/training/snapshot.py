"""Everything that changes while a model trains, at one moment: what is saved, and what trouble goes back to."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from regard.checkpoint.bundle import TrainingState

WEIGHTS, OPTIMIZER = "weights/", "optimizer/"


@dataclass(frozen=True)
class Snapshot:
    """Copies in the memory of the host, and plain facts."""

    weights: dict[str, Tensor]
    average: dict[str, Tensor]
    """The moving average of the weights; empty where there is none."""
    optimizer: dict[str, Tensor]
    facts: dict[str, Any]

    def training_state(self) -> TrainingState:
        """Return what is saved beside the model; that holds the average where there is one, the weights elsewhere."""
        tensors = {OPTIMIZER + name: tensor for name, tensor in self.optimizer.items()}
        if self.average:
            tensors |= {WEIGHTS + name: tensor for name, tensor in self.weights.items()}
        return TrainingState(tensors, self.facts)

    @classmethod
    def of(cls, training: TrainingState, saved: dict[str, Tensor]) -> "Snapshot":
        """Return the snapshot that was saved as a training state beside a model with these weights."""
        weights, optimizer = (
            {name.removeprefix(kind): tensor for name, tensor in training.tensors.items() if name.startswith(kind)}
            for kind in (WEIGHTS, OPTIMIZER)
        )
        return cls(weights or saved, saved if weights else {}, optimizer, training.facts)
