"""A run on disk: its settings with their sources, its state, its scores, and its checkpoints."""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from regard.checkpoint.atomic import is_leftover, write_json, write_text
from regard.checkpoint.store import CheckpointStore
from regard.config.records import first_problem
from regard.config.settings import Settings
from regard.data.sources.pair import Pair
from regard.errors import RunError
from regard.runs.store.records import WHAT, read_run_record

try:
    import fcntl
except ImportError:  # Windows, where two processes in one folder are not noticed
    fcntl = None  # type: ignore[assignment]

RECORD = "run.json"
LOCK = ".lock"
FORMAT = 2
PAIRS = "pairs.jsonl"
"""Training pairs that came from memory."""

S = TypeVar("S", bound=Settings)


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
            return read_run_record(self.path / RECORD, FORMAT)
        except FileNotFoundError:
            raise RunError(f"{self.path}: there is no run here ({RECORD} is missing); check the path.") from None

    @property
    def known(self) -> dict[str, Any]:
        """The same; nothing where there is no record, or none that can be read."""
        try:
            return self.record
        except RunError:
            return {}

    def data_settings(self, schema: type[S]) -> S:
        """Return where its data is, as settings of a task."""
        values = self.record["settings"]["data"]
        try:
            return schema.model_validate_json(json.dumps(values))
        except ValidationError as error:
            raise RunError(
                f"{self.path / RECORD}: this is not {WHAT} ({first_problem(error, 'settings.data')})."
            ) from None

    @property
    def data(self) -> dict[str, Any]:
        """What is known of its data, as soon as that is ready."""
        record = self.record
        if "data" not in record:
            raise RunError(f"{self.path}: this run has not begun to train ({record['state']}); go on with --resume.")
        return dict(record["data"])

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

    def check_free(self) -> None:
        """Refuse a folder that holds a run."""
        if self.exists:
            raise RunError(
                f"{self.path}: there is a run here already ({self.record['state']}); go on with --resume "
                f"{self.path}, replace it with --overwrite, or choose another folder with --out."
            )

    def begin(self, facts: dict[str, Any], pairs: Sequence[Pair] | None) -> None:
        """Note a new run in place of what was there, and keep pairs that came from memory, so that it can be resumed.

        The record is replaced last and in one step: a kill leaves the old run's or the new one's, and no mixture.
        """
        _empty(self.path, but=(RECORD, LOCK))
        if pairs is not None:
            rows = (json.dumps(pair._asdict()) for pair in pairs)
            write_text(self.path / PAIRS, "".join(row + "\n" for row in rows))
        write_json(self.path / RECORD, {"format": FORMAT} | facts)

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
        from regard.runs.scores.passport import passports_of

        return passports_of(self)

    def card(self) -> Path:
        """Write README.md and curves.png anew from what the folder holds, and return the card's path."""
        from regard.runs.reports.card import write_card

        return write_card(self)

    def note(self, **facts: Any) -> None:
        """Add facts to the record."""
        write_json(self.path / RECORD, (self.record if self.exists else {"format": FORMAT}) | facts)


def clear_leftovers(run: Run) -> None:
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


def abandon(run: Run, made: list[Path]) -> None:
    """Remove a run that failed before it began to train, and the folders made for it."""
    if run.exists and run.record["state"] != "preparing":
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


def claim(path: Path, overwrite: bool) -> Run:
    """Return a run that may begin in this folder; what is there stays until it does."""
    run = Run(path)
    if not path.exists():
        above = next(parent for parent in path.absolute().parents if parent.exists())
        if not above.is_dir() or not os.access(above, os.W_OK):
            raise RunError(f"{path}: no folder can be made in {above}; choose another place with --out.")
        return run
    if path.is_dir() and not run.exists and _is_unused(path):
        return run
    if not run.exists:
        raise RunError(f"{path}: this exists and is not a run; choose another folder with --out.")
    if not overwrite:
        run.check_free()
    return run


def _is_unused(path: Path) -> bool:
    """Tell whether a folder is empty, or holds only what a run killed in its first moment leaves."""
    entries = list(path.iterdir())
    begun = {LOCK, PAIRS} if path / LOCK in entries else set()
    return all(entry.name in begun or is_leftover(entry) for entry in entries)
