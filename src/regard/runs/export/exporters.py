"""Exporters: what writes a model in another library's format, and the function that calls one by name."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from regard import registry
from regard.checkpoint.bundle import Bundle
from regard.progress import SILENT, Progress
from regard.runs.store.folder import RunFolder
from regard.tasks.load import read_model


@dataclass(frozen=True)
class Exported:
    """A model in another library's format."""

    path: Path
    form: str
    """The format, or the variant of it."""
    architecture: str
    """The model's class in the other library."""
    use: str
    """Code that loads it there."""

    def to_dict(self) -> dict[str, object]:
        """Return where it is and what it is."""
        return {"path": self.path, "form": self.form, "architecture": self.architecture}

    @property
    def summary(self) -> str:
        """The folder and its use in two lines."""
        return f"{self.path}: {self.architecture} with its tokenizer.\nUse it: {self.use}"


class Exporter(Protocol):
    """Writes models in one format; an object of the entry-point group `regard.exporters` keeps this protocol."""

    @property
    def summary(self) -> str:
        """The format in a few words, for help texts."""

    def write(self, bundle: Bundle, folder: Path, progress: Progress) -> Exported:
        """Write a model to a new folder; one that the format cannot hold is a ConfigError."""


class HasBundle(Protocol):
    """A loaded model: a pipeline of any task."""

    @property
    def bundle(self) -> Bundle:
        """The model with its settings and tokenizers."""


Model = str | Path | RunFolder | HasBundle
"""A model to export: the path of a run or checkpoint, a run, or a pipeline."""


def export(model: Model, folder: str | Path, to: str = "hf") -> Path:
    """Write a run, a checkpoint or a loaded pipeline in another library's format, and return the folder."""
    return write_export(model, folder, to).path


def write_export(model: Model, folder: str | Path, to: str = "hf", progress: Progress = SILENT) -> Exported:
    """Return what `export` wrote: the folder, the architecture, and how to load it."""
    exporter: Exporter = registry.EXPORTERS.find(to)
    path = model.path if isinstance(model, RunFolder) else model
    bundle = read_model(path) if isinstance(path, str | Path) else path.bundle
    return exporter.write(bundle, Path(folder), progress)
