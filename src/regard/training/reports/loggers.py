"""Loggers: the lines of metrics.jsonl in TensorBoard, MLflow or Weights & Biases as well."""

import os
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from regard.checkpoint.atomic import write_json
from regard.config.records import Record, read_record
from regard.errors import ConfigError, RunError
from regard.training.settings import LoggerName

MODULES: dict[LoggerName, str] = {"tensorboard": "tensorboard", "mlflow": "mlflow", "wandb": "wandb"}
"""The module that each logger needs; the extra of the package that installs it has the logger's name."""

PROJECT = "regard"
"""Default project of Weights & Biases, and default experiment of MLflow."""


class Logger(Protocol):
    """Receives every line of metrics.jsonl."""

    def write(self, line: Mapping[str, float]) -> None:
        """Log the numbers of one line; `step` is one of them."""

    def close(self) -> None:
        """Write what is buffered."""


class LoggerIds(Record):
    """The ids of a run in other trackers, so that a resumed run continues its curves there."""

    mlflow: str | None = None
    wandb: str | None = None


def check_loggers(names: Sequence[LoggerName]) -> None:
    """Refuse a logger whose package is not installed."""
    for name in names:
        if find_spec(MODULES[name]) is None:
            raise ConfigError(
                f'train.loggers: {name} is not installed; pip install "regard[{name}]" installs it, or leave it out.'
            )


def open_loggers(
    names: Sequence[LoggerName], folder: Path, step: int, settings: Mapping[str, object]
) -> dict[LoggerName, Logger]:
    """Return the loggers of a run that begins or resumes after a step."""
    return {name: LOGGERS[name](folder, step, settings) for name in names}


class TensorBoardLogger:
    """Writes event files into the run's folder."""

    def __init__(self, folder: Path, step: int, settings: Mapping[str, object]) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(folder / "tensorboard"), purge_step=step + 1)

    def write(self, line: Mapping[str, float]) -> None:
        """Log each number as a scalar."""
        for name, value in line.items():
            self._writer.add_scalar(name, value, int(line["step"]))

    def close(self) -> None:
        """Close the event file."""
        self._writer.close()


class MlflowLogger:
    """Logs to the tracking server of MLFLOW_TRACKING_URI, or where MLflow writes by default."""

    def __init__(self, folder: Path, step: int, settings: Mapping[str, object]) -> None:
        import mlflow

        self._client, self._metric = mlflow.MlflowClient(), mlflow.entities.Metric
        self._run = _id_of(folder, "mlflow") if step else None
        if self._run is None:
            name = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT)
            experiment = self._client.get_experiment_by_name(name)
            number = experiment.experiment_id if experiment else self._client.create_experiment(name)
            self._run = self._client.create_run(number, run_name=folder.name).info.run_id
            params = [mlflow.entities.Param(key, str(value)[:500]) for key, value in settings.items()]
            self._client.log_batch(self._run, params=params)
            _keep_id(folder, "mlflow", self._run)

    def write(self, line: Mapping[str, float]) -> None:
        """Log each number as a metric."""
        now, step = int(time.time() * 1000), int(line["step"])
        metrics = [self._metric(name, float(value), now, step) for name, value in line.items()]
        self._client.log_batch(self._run, metrics=metrics)

    def close(self) -> None:
        """Mark the run as finished."""
        self._client.set_terminated(self._run)


class WandbLogger:
    """Logs to the project of WANDB_PROJECT; WANDB_MODE=offline keeps everything in the run's folder."""

    def __init__(self, folder: Path, step: int, settings: Mapping[str, object]) -> None:
        import wandb

        self._run = wandb.init(
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            name=folder.name,
            dir=str(folder),
            id=_id_of(folder, "wandb") if step else None,
            resume="allow",
            config=dict(settings),
        )
        _keep_id(folder, "wandb", self._run.id)
        self._run.define_metric("*", step_metric="step")  # a resumed run may log a step again

    def write(self, line: Mapping[str, float]) -> None:
        """Log the line."""
        self._run.log(dict(line))

    def close(self) -> None:
        """Wait until everything is sent or written."""
        self._run.finish()


LOGGERS: dict[LoggerName, type[TensorBoardLogger] | type[MlflowLogger] | type[WandbLogger]] = {
    "tensorboard": TensorBoardLogger,
    "mlflow": MlflowLogger,
    "wandb": WandbLogger,
}


def _ids(folder: Path) -> LoggerIds:
    path = folder / "loggers.json"
    return read_record(path, LoggerIds, RunError, "the ids of loggers") if path.exists() else LoggerIds()


def _id_of(folder: Path, name: LoggerName) -> str | None:
    return _ids(folder).model_dump().get(name)


def _keep_id(folder: Path, name: LoggerName, value: str) -> None:
    write_json(folder / "loggers.json", _ids(folder).model_dump(exclude_none=True) | {name: value})
