"""The checkpoints of one run: numbered folders, and an index that says which are kept and what they are worth."""

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regard.checkpoint.atomic import is_leftover, write_json
from regard.checkpoint.bundle import Bundle, TrainingState, unwritten, write_bundle
from regard.checkpoint.records import CONFIG, IndexRecord
from regard.checkpoint.verification import TRAINING, check_whole, remove_folder
from regard.config.names import inside
from regard.config.records import read_record
from regard.errors import CheckpointError

INDEX = "index.json"

OURS = re.compile(r"\d{8}(-\d+)?|\.\d{8}(-\d+)?\.[0-9a-f]{8}")
"""Folders written here: a step's, or what a kill left of one. Nothing else is ever cleared away."""

WITH_TRAINING = 2
"""Checkpoints one can go on from: the latest, and the one before should that be damaged."""


@dataclass(frozen=True)
class Keeping:
    """How many checkpoints stay: the newest, and those with the highest value."""

    last: int = 2
    best: int = 1


@dataclass(frozen=True)
class Index:
    """The kept checkpoints, oldest first, and the value of each (None: never measured)."""

    kept: dict[str, float | None] = field(default_factory=dict)

    @property
    def latest(self) -> str | None:
        """The newest one."""
        return next(reversed(self.kept), None)

    @property
    def ranking(self) -> list[str]:
        """Those with a value, the highest first; of equal ones the older."""
        measured = {name: value for name, value in self.kept.items() if value is not None and not math.isnan(value)}
        return sorted(measured, key=lambda name: -measured[name])

    @property
    def best(self) -> str | None:
        """The one with the highest value; the newest while none has been measured."""
        return next(iter(self.ranking), self.latest)

    def with_new(self, name: str, value: float | None, keeping: Keeping) -> "Index":
        """Return the index after one more was written."""
        grown = Index(self.kept | {name: value})
        stay = {*list(grown.kept)[-max(1, keeping.last) :], *grown.ranking[: max(1, keeping.best)]}
        return Index({each: worth for each, worth in grown.kept.items() if each in stay})

    def plain(self) -> dict[str, Any]:
        """Return it as it is written; `latest` and `best` are there for people and other programs."""
        return {"latest": self.latest, "best": self.best, "kept": self.kept}


class CheckpointStore:
    """The `checkpoints` folder of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def index(self) -> Index:
        """What is kept."""
        path, what = self.folder / INDEX, "an index of checkpoints"
        try:
            return Index(read_record(path, IndexRecord, CheckpointError, what, "copy it again").kept)
        except FileNotFoundError:
            return Index()

    def path(self, which: str) -> Path:
        """Return the folder of the `latest` or the `best` checkpoint."""
        index = self.index
        name = index.best if which == "best" else index.latest
        if name is None:
            raise CheckpointError(
                f"{self.folder}: there is no {which} checkpoint yet; let the run reach its first save."
            )
        return self.place(name)

    def place(self, name: str) -> Path:
        """Return the folder of a checkpoint that the index names."""
        return inside(self.folder, name, self.folder / INDEX, CheckpointError)

    def check_writable(self) -> None:
        """Refuse to write, and to clear away, what lies elsewhere."""
        if self.folder.is_symlink():
            raise CheckpointError(
                f"{self.folder}: this is a link to {self.folder.readlink()}, and no checkpoint is written or removed "
                f"outside of the run; put the folder itself there."
            )

    def save(
        self,
        step: int,
        bundle: Bundle,
        training: TrainingState,
        value: float | None = None,
        keeping: Keeping | None = None,
    ) -> Path:
        """Write a checkpoint, point the index to it, and only then clear away what is no longer kept."""
        self.check_writable()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._clear(self.index)  # what a kill left behind may be the very space that is needed
        folder = self._free(f"{step:08d}")
        write_bundle(folder, bundle, training)
        index = self.index.with_new(folder.name, value, keeping or Keeping())
        try:
            write_json(self.folder / INDEX, index.plain())
        except OSError as error:
            raise unwritten(self.folder / INDEX, error) from None
        self._clear(index)
        return folder

    def resumable(self) -> tuple[Path, list[CheckpointError]]:
        """Return the newest whole checkpoint one can go on from, and what is wrong with those after it."""
        self.check_writable()
        damages: list[CheckpointError] = []
        for name in [*reversed(self.index.kept)][:WITH_TRAINING]:
            try:
                check_whole(self.place(name), to_go_on=True)
            except CheckpointError as damage:
                damages.append(damage)
            else:
                return self.place(name), damages
        if damages:
            raise CheckpointError(
                f"{str(damages[0]).removesuffix('.')}; no whole checkpoint before it is left to go on from."
            )
        return self.path("latest"), []

    def forget_after(self, folder: Path) -> None:
        """Take every checkpoint newer than this one out of the index: they are damaged."""
        kept = self.index.kept
        names = list(kept)
        older = names[: names.index(folder.name) + 1]
        write_json(self.folder / INDEX, Index({name: kept[name] for name in older}).plain())

    def _free(self, name: str) -> Path:
        """Return a folder that does not exist: a step saved before stays whole until the new one is."""
        folder, again = self.folder / name, 0
        while folder.exists():
            again += 1
            folder = self.folder / f"{name}-{again}"
        return folder

    def _clear(self, index: Index) -> None:
        """Remove what is not in the index, what a failed or killed write left, and training state that is too old."""
        for path in self.folder.iterdir():
            if OURS.fullmatch(path.name) and path.name not in index.kept and (path.is_dir() or path.is_symlink()):
                remove_folder(path)
            elif path.is_file() and is_leftover(path, of=INDEX):
                path.unlink(missing_ok=True)
        for name in list(index.kept)[:-WITH_TRAINING]:
            folder = self.place(name)
            if not folder.is_symlink():  # whose training state that is, nobody knows
                remove_folder(folder / TRAINING)


def find_checkpoint(path: Path, which: str = "best") -> Path:
    """Return the checkpoint folder that a path means: itself, or the best (or latest) one of a run."""
    if not path.exists():
        raise CheckpointError(f"{path}: there is no run or checkpoint here; check the path.")
    if (path / CONFIG).is_file() and not (path / "checkpoints").is_dir():
        return path
    for folder in (path / "checkpoints", path):
        if (folder / INDEX).is_file():
            return CheckpointStore(folder).path(which)
    if (path / "checkpoints").is_dir() or (path / "run.json").is_file():
        raise CheckpointError(f"{path}: this run has no checkpoint yet; let it reach its first save.")
    raise CheckpointError(f"{path}: this is neither a run nor a checkpoint; name the folder of one.")
