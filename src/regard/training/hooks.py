"""Hooks of the training loop: validation, checkpoints, metrics, progress."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from regard.checkpoint.background import BackgroundWriter
from regard.checkpoint.bundle import TrainingState
from regard.progress import SILENT, Progress
from regard.training.state import LoopState

SCORINGS = 3.0
"""Validations that the final scores take, where nothing is known about them."""

Record = dict[str, float]


@dataclass(frozen=True)
class Hooks:
    """The callbacks of the loop, and what it compares validations with."""

    validate: Callable[[Any], dict[str, float]]
    save: Callable[[LoopState, TrainingState, float | None], None]
    """Saves the model and its training state with its selection metric (None: not validated)."""
    record: Callable[[Record], None] = lambda record: None
    forget: Callable[[int], None] = lambda step: None
    """Drops the records after a step, which is about to be repeated."""
    drop_older: Callable[[], None] = lambda: None
    """Drops all checkpoints but the newest: they are of an attempt that learned nothing."""
    untrained: Callable[[], nn.Module] | None = None
    """Makes the model anew, as it was before the first update; None: a model that learns nothing is only reported."""
    baseline: Mapping[str, float] = field(default_factory=dict)
    """Validation metrics of the best constant prediction."""
    scorings: float = SCORINGS
    """Time of the final scores, in validations, about."""
    progress: Progress = SILENT
    writer: BackgroundWriter = field(default_factory=BackgroundWriter)
    """Writes in the background what is saved: it is asked for failures at each update, and waited for at the end."""
