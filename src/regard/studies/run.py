"""A run on disk: its settings with their sources, its state, its scores, and its checkpoints."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.checkpoint import CheckpointStore, write_json
from regard.errors import RunError

try:
    import fcntl
except ImportError:  # Windows, where two processes in one folder are not noticed
    fcntl = None  # type: ignore[assignment]

RECORD = "run.json"
LOCK = ".lock"
FORMAT = 1
NEEDED = {"state", "task", "settings", "sources", "data", "machine", "parameters"}


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
            record = dict(json.loads((self.path / RECORD).read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise RunError(f"{self.path}: there is no run here ({RECORD} is missing); check the path.") from None
        except (ValueError, TypeError):
            raise RunError(f"{self.path / RECORD}: this record of a run cannot be read.") from None
        if record.get("format") != FORMAT or NEEDED - set(record):
            raise RunError(f"{self.path / RECORD}: this is no record of a run that this version of regard can read.")
        return record

    @property
    def exists(self) -> bool:
        """Whether there is a run in the folder."""
        return (self.path / RECORD).is_file()

    @property
    def scores(self) -> dict[str, Any]:
        """The scores on each test set, once the run is finished."""
        return dict(self.record.get("scores", {}))

    def begin(self) -> None:
        """Make the folder, in place of what was there."""
        if self.exists:
            with self.in_hand():  # nobody is training it
                shutil.rmtree(self.path)
        self.path.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def in_hand(self) -> Iterator[None]:
        """Keep the folder to this process; a kill lets go of it too."""
        with (self.path / LOCK).open("w") as file:
            try:
                if fcntl is not None:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RunError(
                    f"{self.path}: another process is training this run right now; let it finish."
                ) from None
            yield

    @property
    def passports(self) -> dict[str, dict[str, Any]]:
        """What every score passport in the folder says, by file name."""
        from regard.studies.passport import passports_of

        return passports_of(self)

    def card(self) -> Path:
        """Write README.md and curves.png anew from what the folder holds, and return the card's path."""
        from regard.studies.card import write_card

        return write_card(self)

    def note(self, **facts: Any) -> None:
        """Add facts to the record."""
        write_json(self.path / RECORD, (self.record if self.exists else {"format": FORMAT}) | facts)


def claim(path: Path, overwrite: bool) -> Run:
    """Return a run that may begin in this folder; what is there stays until it does."""
    run = Run(path)
    if not path.exists():
        above = next(parent for parent in path.absolute().parents if parent.exists())
        if not above.is_dir() or not os.access(above, os.W_OK):
            raise RunError(f"{path}: no folder can be made in {above}; choose another place with --out.")
        return run
    if path.is_dir() and not any(path.iterdir()):
        return run
    if not run.exists:
        raise RunError(f"{path}: this exists and is not a run; choose another folder with --out.")
    if not overwrite:
        state = run.record.get("state", "unknown")
        raise RunError(
            f"{path}: there is a run here already ({state}); go on with --resume {path}, replace it with "
            f"--overwrite, or choose another folder with --out."
        )
    return run
