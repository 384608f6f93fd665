"""Snapshot of a training: weights, average, optimizer and progress, to be saved or rolled back to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from regard.checkpoint.bundle import TrainingState
from regard.nn.layers.low_rank import PART
from regard.training.parallel.shard import part_of, to_save

WEIGHTS, AVERAGE, OPTIMIZER = "weights/", "average/", "optimizer/"


def part_of_state(key: str, tensor: Tensor, parameters: Mapping[str, Tensor]) -> Tensor:
    """Return the part that this process holds of a saved tensor, named after its parameter."""
    parameter = parameters.get(parameter_of(key))
    fits = parameter is not None and parameter.shape == tensor.shape
    return part_of(tensor, parameter) if parameter is not None and fits else tensor


def parameter_of(key: str) -> str:
    """Return the name of the parameter that a tensor belongs to."""
    if key.startswith(OPTIMIZER):
        return key.removeprefix(OPTIMIZER).rpartition("/")[0]
    return key.removeprefix(WEIGHTS).removeprefix(AVERAGE)


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

    def training_state(self, parameters: Mapping[str, Tensor]) -> TrainingState:
        """Return the state to save beside the model, which itself holds the average or, without one, the weights.

        Tensors of which this process holds a part are those over all processes, sharded as their parameters are.
        """
        tensors = {OPTIMIZER + name: tensor for name, tensor in self.optimizer.items()}
        if self.average or self.is_adapted:
            tensors |= {WEIGHTS + name: tensor for name, tensor in self.weights.items()}
        if self.is_adapted:
            tensors |= {AVERAGE + name: tensor for name, tensor in self.average.items()}
        sharded = {
            key: tensor if key.endswith("/step") else to_save(tensor, parameters[parameter_of(key)])
            for key, tensor in tensors.items()
        }
        return TrainingState(sharded, {"loop": self.loop, "window": self.window})

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
