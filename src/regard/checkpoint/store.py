"""The checkpoint store of a run: numbered folders, and an index of the kept ones with their validation values."""

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from regard.checkpoint.atomic import is_leftover, write_json
from regard.checkpoint.bundle import Bundle, TrainingState, unwritten, write_bundle
from regard.checkpoint.records import CONFIG, IndexRecord
from regard.checkpoint.verification import TRAINING, check_intact, remove_folder
from regard.config.names import inside
from regard.config.records import read_record
from regard.errors import CheckpointError

INDEX = "index.json"

CHECKPOINT_NAME = re.compile(r"\d{8}(-\d+)?|\.\d{8}(-\d+)?\.[0-9a-f]{8}")
"""Names of checkpoint folders and of interrupted writes; nothing else is ever deleted."""

WITH_TRAINING = 2
"""Checkpoints with training state: the latest, and the one before in case that is damaged."""


@dataclass(frozen=True)
class RetentionPolicy:
    """Numbers of checkpoints to keep: the newest, and those with the highest value."""

    last: int = 2
    best: int = 1


@dataclass(frozen=True)
class Index:
    """The kept checkpoints, oldest first, with their validation values (None: not evaluated)."""

    kept: dict[str, float | None] = field(default_factory=dict)

    @property
    def latest(self) -> str | None:
        """Name of the newest checkpoint."""
        return next(reversed(self.kept), None)

    @property
    def ranking(self) -> list[str]:
        """Names of the evaluated checkpoints, highest value first; ties: older first."""
        measured = {name: value for name, value in self.kept.items() if value is not None and not math.isnan(value)}
        return sorted(measured, key=lambda name: -measured[name])

    @property
    def best(self) -> str | None:
        """Name of the checkpoint with the highest value, or of the newest while none has been evaluated."""
        return next(iter(self.ranking), self.latest)

    def with_new(self, name: str, value: float | None, keeping: RetentionPolicy) -> "Index":
        """Return the index with one more checkpoint and without those no longer kept."""
        extended = Index(self.kept | {name: value})
        names = {*list(extended.kept)[-max(1, keeping.last) :], *extended.ranking[: max(1, keeping.best)]}
        return Index({each: score for each, score in extended.kept.items() if each in names})

    def plain(self) -> dict[str, Any]:
        """Return the JSON of the index; `latest` and `best` are for people and other programs."""
        return {"latest": self.latest, "best": self.best, "kept": self.kept}


class CheckpointStore:
    """The `checkpoints` folder of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def index(self) -> Index:
        """The index on disk, empty where there is none."""
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
        return self.folder_of(name)

    def folder_of(self, name: str) -> Path:
        """Return the folder of a checkpoint that the index names."""
        return inside(self.folder, name, self.folder / INDEX, CheckpointError)

    def check_writable(self) -> None:
        """Refuse a folder that is a symbolic link: nothing is written or removed outside of the run."""
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
        keeping: RetentionPolicy | None = None,
        weights: dict[str, Tensor] | Path | None = None,
    ) -> Path:
        """Write a checkpoint, add it to the index, and only then delete those no longer kept.

        `weights` are those to write in place of the model's, or the folder to which all processes have written the
        tensors (`parts_folder`).
        """
        self.check_writable()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._clear(self.index)  # leftovers of a killed write may take the space that is needed
        folder = self._unused(f"{step:08d}")
        write_bundle(folder, bundle, training, weights)
        index = self.index.with_new(folder.name, value, keeping or RetentionPolicy())
        try:
            write_json(self.folder / INDEX, index.plain())
        except OSError as error:
            raise unwritten(self.folder / INDEX, error) from None
        self._clear(index)
        remove_folder(self.parts_folder)
        return folder

    @property
    def parts_folder(self) -> Path:
        """The folder of tensors that several processes are writing; what a kill left there is overwritten."""
        return self.folder / ".parts"

    def clear_parts(self) -> None:
        """Make the folder of tensors that several processes are about to write."""
        self.check_writable()
        remove_folder(self.parts_folder)
        self.parts_folder.mkdir(parents=True)

    def resumable(self) -> tuple[Path, list[CheckpointError]]:
        """Return the newest intact checkpoint with training state, and the errors of newer ones."""
        self.check_writable()
        damages: list[CheckpointError] = []
        for name in [*reversed(self.index.kept)][:WITH_TRAINING]:
            try:
                check_intact(self.folder_of(name), with_training=True)
            except CheckpointError as damage:
                damages.append(damage)
            else:
                return self.folder_of(name), damages
        if damages:
            raise CheckpointError(
                f"{str(damages[0]).removesuffix('.')}; there is no intact checkpoint before it to resume from."
            )
        return self.path("latest"), []

    def drop_after(self, folder: Path) -> None:
        """Remove every checkpoint newer than this one from the index: they are damaged."""
        kept = self.index.kept
        names = list(kept)
        older = names[: names.index(folder.name) + 1]
        write_json(self.folder / INDEX, Index({name: kept[name] for name in older}).plain())

    def drop_older(self) -> None:
        """Delete every checkpoint but the newest."""
        kept = self.index.kept
        newest = Index({name: kept[name] for name in list(kept)[-1:]})
        write_json(self.folder / INDEX, newest.plain())
        self._clear(newest)

    def _unused(self, name: str) -> Path:
        """Return an unused folder name: an older checkpoint of the same step stays until the new one is written."""
        folder, suffix = self.folder / name, 0
        while folder.exists():
            suffix += 1
            folder = self.folder / f"{name}-{suffix}"
        return folder

    def _clear(self, index: Index) -> None:
        """Delete folders not in the index, leftovers of failed or killed writes, and outdated training state."""
        for path in self.folder.iterdir():
            if (
                CHECKPOINT_NAME.fullmatch(path.name)
                and path.name not in index.kept
                and (path.is_dir() or path.is_symlink())
            ):
                remove_folder(path)
            elif path.is_file() and is_leftover(path, of=INDEX):
                path.unlink(missing_ok=True)
        for name in list(index.kept)[:-WITH_TRAINING]:
            folder = self.folder_of(name)
            if not folder.is_symlink():  # its training state is outside of the run
                remove_folder(folder / TRAINING)


def find_checkpoint(path: Path, which: str = "best") -> Path:
    """Return the checkpoint folder of a path: itself, or the best (or latest) checkpoint of a run."""
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
