"""The model to evaluate: a pipeline, or the path of a run, a checkpoint, hf:DIR or a file of word vectors."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard import registry
from regard.checkpoint.identity import HUGGING_FACE
from regard.errors import ConfigError
from regard.runs.store.folder import RunFolder
from regard.tasks.contract import AnyTask, find_task
from regard.tasks.load import load, read_task
from regard.tasks.record import RunRecord

FILE_KIND = "word-vectors"
"""The kind of model that a file is."""


@dataclass(frozen=True)
class EvaluatedModel:
    """A pipeline with its task, and where it came from."""

    pipeline: Any
    task: AnyTask
    origin: str = ""
    """The path of the model; empty for a pipeline alone."""
    record: RunRecord | None = None
    """The record of its run, where the path is one."""

    @property
    def name(self) -> str:
        """Its name in messages."""
        return self.origin or "this model"

    @property
    def is_foreign(self) -> bool:
        """It is of another library."""
        return self.origin.startswith(HUGGING_FACE)


def task_of(model: object) -> AnyTask:
    """Return the task of a model, without loading one that is named by a path."""
    if isinstance(model, RunFolder):
        return find_task(model.record.task)
    if isinstance(model, (str, Path)):
        is_file = Path(model).is_file()
        return find_task(registry.task_of_model(FILE_KIND) if is_file else read_task(model))
    name = getattr(getattr(model, "bundle", None), "task", None) or getattr(model, "task", None)
    if isinstance(name, str) and registry.has_task(name):
        return find_task(name)
    raise ConfigError(
        f"model: {type(model).__name__} is no model that can be evaluated; give the path of a run, or what "
        f"regard.load returns."
    )


def open_model(model: object, device: str = "auto") -> EvaluatedModel:
    """Return a model with its pipeline."""
    task = task_of(model)
    if isinstance(model, RunFolder):
        model = model.path
    if not isinstance(model, (str, Path)):
        return EvaluatedModel(model, task)
    run = RunFolder(Path(model))
    return EvaluatedModel(load(model, device), task, str(model), run.record if run.exists else None)
