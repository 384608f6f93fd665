"""A run on disk: its settings with their sources, its state, its scores, and its checkpoints."""

import json
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.checkpoint import CheckpointStore, is_leftover, write_json
from regard.errors import RunError

RECORD = "run.json"


@dataclass(frozen=True)
class Run:
    """The folder of a run."""

    path: Path

    @property
    def checkpoints(self) -> CheckpointStore:
        """Its checkpoints."""
        return CheckpointStore(self.path / "checkpoints")

    @property
    def best(self) -> Path:
        """The checkpoint with the best validation."""
        return self.checkpoints.path("best")

    @property
    def latest(self) -> Path:
        """The checkpoint to go on from."""
        return self.checkpoints.path("latest")

    @property
    def record(self) -> dict[str, Any]:
        """What is known about it: settings, sources, state, data, machine, scores."""
        try:
            return dict(json.loads((self.path / RECORD).read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise RunError(f"{self.path}: there is no run here ({RECORD} is missing); check the path.") from None
        except ValueError:
            raise RunError(f"{self.path / RECORD}: this record of a run cannot be read.") from None

    @property
    def exists(self) -> bool:
        """Whether there is a run in the folder."""
        return (self.path / RECORD).is_file()

    @property
    def scores(self) -> dict[str, Any]:
        """The scores on each test set, once the run is finished."""
        return dict(self.record.get("scores", {}))

    @property
    def has_checkpoint(self) -> bool:
        """Whether there is anything to go on from."""
        return self.checkpoints.index.latest is not None

    def note(self, **facts: Any) -> None:
        """Add facts to the record."""
        write_json(self.path / RECORD, (self.record if self.exists else {}) | facts)


def clear_leftovers(run: Run) -> None:
    """Remove what writes that were killed have left in the folder."""
    for path in run.path.iterdir():
        if is_leftover(path) and path.is_file():
            path.unlink(missing_ok=True)


def missing_folders(path: Path) -> list[Path]:
    """Return the folders that would have to be made for this one, the innermost first."""
    return [folder for folder in (path, *path.parents) if not folder.exists()]


def abandon(run: Run, made: list[Path]) -> None:
    """Remove a run that failed before it began to train, and the folders made for it."""
    if not run.exists or run.record.get("state") != "preparing":
        return
    for path in run.path.iterdir():  # the folder was empty when the run claimed it
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for folder in made:
        with suppress(OSError):  # something else has moved in
            folder.rmdir()


def claim(path: Path, overwrite: bool) -> Run:
    """Return a run whose folder may be written to; nothing that is there is lost unless `overwrite` says so."""
    run = Run(path)
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return run
    if not run.exists:
        raise RunError(f"{path}: this exists and is not a run; choose another folder with --out.")
    if not overwrite:
        state = run.record.get("state", "unknown")
        raise RunError(
            f"{path}: there is a run here already ({state}); go on with --resume {path}, replace it with "
            f"--overwrite, or choose another folder with --out."
        )
    shutil.rmtree(path)
    return run
