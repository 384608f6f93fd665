"""The folder of a run: its record, its lock and its checkpoints."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.checkpoint.atomic import is_leftover, write_json
from regard.checkpoint.store import CheckpointStore
from regard.config.records import read_json
from regard.errors import RunError
from regard.tasks.record import RECORD, WHAT, RunRecord, read_run_record

try:
    import fcntl
except ImportError:  # Windows, where two processes in one folder are not noticed
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"
FORMAT = 2
DATA = "data"
"""Folder of training data that came from memory."""


@dataclass(frozen=True)
class RunFolder:
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
        """The checkpoint to resume from."""
        return self.checkpoints.path("latest")

    @property
    def record(self) -> RunRecord:
        """Its record: settings, sources, state, data, machine, scores."""
        try:
            return read_run_record(self.path, FORMAT)
        except FileNotFoundError:
            raise RunError(f"{self.path}: there is no run here ({RECORD} is missing); check the path.") from None

    @property
    def state(self) -> str:
        """The state of its record; empty where there is none that can be read."""
        try:
            return self.record.state
        except RunError:
            return ""

    @property
    def exists(self) -> bool:
        """The folder holds a run."""
        return (self.path / RECORD).is_file()

    @property
    def scores(self) -> dict[str, Any]:
        """The scores on each test set, once the run is finished."""
        return dict(self.record.scores)

    @property
    def has_checkpoint(self) -> bool:
        """There is a checkpoint to resume from."""
        return self.checkpoints.index.latest is not None

    def check_free(self) -> None:
        """Refuse a folder that holds a run."""
        if self.exists:
            raise RunError(
                f"{self.path}: there is a run here already ({self.record.state}); resume it with --resume "
                f"{self.path}, replace it with --overwrite, or choose another folder with --out."
            )

    def begin(self, values: dict[str, Any]) -> None:
        """Write the record of a new run in place of what was there; data from memory stays.

        The record is replaced last and in one step: a kill leaves the old run's or the new one's, and no mixture.
        """
        _empty(self.path, but=(RECORD, LOCK, DATA))
        sources = json.dumps(values["settings"]["data"])
        for file in (self.path / DATA).glob("*"):
            if file.name not in sources:  # rows of the run before
                file.unlink()
        write_json(self.path / RECORD, {"format": FORMAT} | values)

    @contextmanager
    def in_hand(self) -> Iterator[None]:
        """Lock the folder for this process; a kill releases it too."""
        with (self.path / LOCK).open("w") as file:
            try:
                if fcntl is not None:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RunError(
                    f"{self.path}: another process is training this run right now; let it finish."
                ) from None
            yield

    def note(self, **values: Any) -> None:
        """Add values to the record, or replace them there."""
        written = read_json(self.path / RECORD, RunError, WHAT) if self.exists else {"format": FORMAT}
        write_json(self.path / RECORD, written | values)


def read_record(path: str | Path) -> RunRecord | None:
    """Return the record of the run at a path; None where there is no run, such as for a checkpoint or hf:DIR."""
    run = RunFolder(Path(path))
    return run.record if run.exists else None


def clear_leftovers(run: RunFolder) -> None:
    """Remove what writes that were killed have left in the folder."""
    for path in run.path.iterdir():
        if is_leftover(path) and path.is_file():
            path.unlink(missing_ok=True)


def missing_folders(path: Path) -> list[Path]:
    """Return the folders that would have to be made for this one, the innermost first."""
    return [folder for folder in (path, *path.parents) if not folder.exists()]


@contextmanager
def removed_if_empty(made: list[Path]) -> Iterator[None]:
    """Remove folders that were made, the innermost first, if what follows fails and leaves nothing in them."""
    try:
        yield
    except BaseException:
        with suppress(OSError):  # the first that holds something stays, and so do those around it
            for folder in made:
                if [entry.name for entry in folder.iterdir()] == [LOCK]:
                    (folder / LOCK).unlink()
                folder.rmdir()
        raise


def abandon(run: RunFolder, made: list[Path]) -> None:
    """Remove a run that failed before it began to train, and the folders made for it."""
    if run.exists and run.record.state != "preparing":
        return
    _empty(run.path)  # the folder was empty when the run claimed it
    for folder in made:
        with suppress(OSError):  # something else has moved in
            folder.rmdir()


def _empty(folder: Path, but: tuple[str, ...] = ()) -> None:
    for path in folder.iterdir():
        if path.name in but:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def claim(path: Path, overwrite: bool) -> RunFolder:
    """Return the folder of a new run; its contents stay until the run begins."""
    run = RunFolder(path)
    if not path.exists():
        above = next(parent for parent in path.absolute().parents if parent.exists())
        if not above.is_dir() or not os.access(above, os.W_OK):
            raise RunError(f"{path}: no folder can be made in {above}; choose another folder with --out.")
        return run
    if path.is_dir() and not run.exists and _is_unused(path):
        return run
    if not run.exists:
        raise RunError(f"{path}: this exists and is not a run; choose another folder with --out.")
    if not overwrite:
        run.check_free()
    return run


def _is_unused(path: Path) -> bool:
    """Return whether a folder is empty, or holds only what a run killed in its first moment leaves."""
    entries = list(path.iterdir())
    begun = {LOCK, DATA} if path / LOCK in entries else set()
    return all(entry.name in begun or is_leftover(entry) for entry in entries)
