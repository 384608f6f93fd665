"""Verification that resuming changes nothing: the same training with and without an interruption, compared."""

import math
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from regard.checkpoint.bundle import read_training, read_weights
from regard.config.overrides import nested
from regard.config.settings import flatten
from regard.errors import ConfigError
from regard.progress import SILENT, Progress
from regard.runs.execute import RunSpec, execute
from regard.runs.planning.recipes import Recipe, resolve_run
from regard.runs.run import Run
from regard.training.device.machine import choose_device
from regard.training.reports.metrics_log import METRICS, read_metrics

CLOCKS = ("seconds", "tokens_per_second", "data_wait")
"""Metrics that depend on the clock, so that no two runs agree in them."""


@dataclass(frozen=True)
class Verification:
    """The largest difference between a run that was never interrupted and one that was."""

    steps: int
    interrupted_at: int
    weights: float
    optimizer: float
    losses: float
    device: str

    @property
    def is_exact(self) -> bool:
        """There is no difference at all."""
        return self.weights == self.optimizer == self.losses == 0


def verify_resume(
    recipe: Recipe, overrides: Mapping[str, Any] | None = None, steps: int = 20, progress: Progress = SILENT
) -> Verification:
    """Train some steps straight, and as many with a stop and a real resume in the middle; nothing is kept."""
    if steps < 2:
        raise ConfigError(f"--steps {steps} leaves no middle to interrupt; give at least 2.")
    changes = dict(flatten(nested(overrides or {})))
    settings = resolve_run(recipe, changes).settings
    middle = steps // 2
    changes |= settings.shortened(steps)
    changes["train.loggers"] = []
    changes["train.log_every"] = next(every for every in count(2) if middle % every)  # stop between two reports
    job = RunSpec(resolve_run(recipe, changes), is_scored=False)
    with tempfile.TemporaryDirectory(prefix="regard-verify-") as folder:
        straight, cut = (Run(Path(folder) / name) for name in ("straight", "cut"))
        progress.info(f"{steps} steps straight")
        execute(straight, job, progress)
        progress.info(f"{middle} steps, then a stop")
        execute(cut, replace(job, stop_at=middle), progress)
        torch.manual_seed(torch.seed())  # a random state that was not saved would now differ
        progress.info(f"resumed for the other {steps - middle}")
        execute(cut, replace(job, start="resume"), progress)
        device = choose_device(job.resolved.settings.machine.device).type
        return Verification(steps, middle, *differences(straight, cut), device)


def differences(one: Run, other: Run) -> tuple[float, float, float]:
    """Return the largest difference of weights, of optimizer state and of metrics between two runs."""
    weights = largest_difference(read_weights(one.latest), read_weights(other.latest))
    states = (read_training(run.latest).tensors for run in (one, other))
    return weights, largest_difference(*states), _record_difference(_records(one), _records(other))


def largest_difference(one: Mapping[str, Tensor], other: Mapping[str, Tensor]) -> float:
    """Return the largest difference of any two numbers; infinite where one side lacks something or a number."""
    if one.keys() != other.keys():
        return math.inf
    gaps = [_gap(tensor, other[name]) for name, tensor in one.items()]
    return max(gaps, default=0.0)


def _gap(one: Tensor, other: Tensor) -> float:
    if one.shape != other.shape or not (one.isfinite().all() and other.isfinite().all()):
        return math.inf
    return float((one.double() - other.double()).abs().max()) if one.numel() else 0.0


def _records(run: Run) -> list[dict[str, float]]:
    records = read_metrics(run.path / METRICS)
    return [{name: value for name, value in record.items() if name not in CLOCKS} for record in records]


def _record_difference(one: list[dict[str, float]], other: list[dict[str, float]]) -> float:
    if [record.keys() for record in one] != [record.keys() for record in other]:
        return math.inf
    gaps = [
        abs(value - second[name]) for first, second in zip(one, other, strict=True) for name, value in first.items()
    ]
    return max(gaps, default=0.0)
