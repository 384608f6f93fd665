"""Snapshot of a training: weights, average, optimizer and progress, to be saved or rolled back to."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from regard.checkpoint.bundle import TrainingState
from regard.nn.layers.low_rank import PART

WEIGHTS, AVERAGE, OPTIMIZER = "weights/", "average/", "optimizer/"


@dataclass(frozen=True)
class Snapshot:
    """Copies in host memory, and the progress of training as JSON can hold it."""

    weights: dict[str, Tensor]
    average: dict[str, Tensor]
    """The moving average of the weights; empty without one."""
    optimizer: dict[str, Tensor]
    loop: dict[str, Any]
    """The state of the loop (see `LoopState`)."""
    window: dict[str, Any]
    """The metrics since the last log line (see `MetricsWindow`)."""
    is_adapted: bool = False
    """Weights have low-rank updates, which a checkpoint holds merged: so they are kept here as well."""

    def training_state(self) -> TrainingState:
        """Return the state to save beside the model, which itself holds the average or, without one, the weights."""
        tensors = {OPTIMIZER + name: tensor for name, tensor in self.optimizer.items()}
        if self.average or self.is_adapted:
            tensors |= {WEIGHTS + name: tensor for name, tensor in self.weights.items()}
        if self.is_adapted:
            tensors |= {AVERAGE + name: tensor for name, tensor in self.average.items()}
        return TrainingState(tensors, {"loop": self.loop, "window": self.window})

    @classmethod
    def of(cls, training: TrainingState, saved: dict[str, Tensor]) -> "Snapshot":
        """Return the snapshot of a training state that was saved beside a model with these weights."""
        weights, average, optimizer = (
            {name.removeprefix(kind): tensor for name, tensor in training.tensors.items() if name.startswith(kind)}
            for kind in (WEIGHTS, AVERAGE, OPTIMIZER)
        )
        is_merged = any(PART in name for name in weights)
        return cls(
            weights or saved,
            average if is_merged else saved if weights else {},
            optimizer,
            training.facts.get("loop", {}),
            training.facts.get("window", {}),
            is_merged,
        )
