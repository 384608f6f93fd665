"""The checkpoints of one run: numbered folders, and an index that names the latest and the best."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

from regard.checkpoint.atomic import write_json
from regard.checkpoint.bundle import CONFIG, TRAINING, Bundle, TrainingState, write_bundle
from regard.errors import CheckpointError

INDEX = "index.json"

OURS = re.compile(r"\d{8}(-\d+)?|\.\d{8}(-\d+)?\.[0-9a-f]{8}")
"""Folders written here: a step's, or what a kill left of one. Nothing else is ever cleared away."""


class CheckpointStore:
    """The `checkpoints` folder of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def index(self) -> dict[str, str]:
        """The folder names of the latest and the best checkpoint."""
        try:
            return {str(which): str(name) for which, name in json.loads((self.folder / INDEX).read_text()).items()}
        except FileNotFoundError:
            return {}
        except (ValueError, AttributeError):
            raise CheckpointError(f"{self.folder / INDEX}: this index of checkpoints cannot be read.") from None

    def path(self, which: str) -> Path:
        """Return the folder of the `latest` or the `best` checkpoint."""
        name = self.index.get(which)
        if name is None:
            raise CheckpointError(
                f"{self.folder}: there is no {which} checkpoint yet; let the run reach its first save."
            )
        return self.folder / name

    def save(self, step: int, bundle: Bundle, training: TrainingState, is_best: bool) -> Path:
        """Write a checkpoint, point the index to it, and only then clear away what is no longer named."""
        self.folder.mkdir(parents=True, exist_ok=True)
        folder = self._free(f"{step:08d}")
        write_bundle(folder, bundle, training)
        index = self.index | {"latest": folder.name}
        if is_best or "best" not in index:
            index["best"] = folder.name
        write_json(self.folder / INDEX, index)
        self._clear(index)
        return folder

    def _free(self, name: str) -> Path:
        """Return a folder that does not exist: a step saved before stays whole until the new one is."""
        folder, again = self.folder / name, 0
        while folder.exists():
            again += 1
            folder = self.folder / f"{name}-{again}"
        return folder

    def _clear(self, index: dict[str, Any]) -> None:
        for folder in self.folder.iterdir():
            if folder.is_dir() and OURS.fullmatch(folder.name) and folder.name not in index.values():
                shutil.rmtree(folder)
        for name in set(index.values()) - {index["latest"]}:
            shutil.rmtree(self.folder / name / TRAINING, ignore_errors=True)


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
    raise CheckpointError(f"{path}: this is neither a run nor a checkpoint.")
