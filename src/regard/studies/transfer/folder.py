"""A transfer on disk: what was asked for, its split, its starts, its runs and what came of each."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.checkpoint.atomic import write_json
from regard.checkpoint.verification import remove_folder
from regard.config.records import read_record
from regard.errors import RunError
from regard.runs.run import Run
from regard.studies.folder import FORMAT, StudyFolder, listed
from regard.studies.transfer.records import CellRecord, TransferRecord, TransferResults


@dataclass(frozen=True)
class TransferRun:
    """One run: a method, a number of examples (None: all) and a seed."""

    method: str
    size: int | None
    seed: int

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"{self.method}-{self.size or 'all'}-{self.seed}"


@dataclass(frozen=True)
class Transfer(StudyFolder):
    """The folder of a transfer."""

    kind = "transfer"
    part = "run"
    schema = TransferRecord
    results_schema = TransferResults
    folders = ("data", "starts", "runs", "cells")

    @property
    def is_begun(self) -> bool:
        """Whether any run has been made for it."""
        return any((self.path / folder).exists() for folder in ("starts", "runs", "cells"))

    def run(self, cell: TransferRun) -> Run:
        """Return the run of a cell."""
        return Run(self.path / "runs" / cell.name)

    def start(self, name: str) -> Run:
        """Return the run of something that was pretrained here."""
        return Run(self.path / "starts" / name)

    def figures(self, cell: TransferRun) -> dict[str, Any] | None:
        """Return what came of a cell, if it is done."""
        path = self.path / "cells" / f"{cell.name}.json"
        try:
            return read_record(path, CellRecord, RunError, "what came of a run").model_dump(exclude_unset=True)
        except (FileNotFoundError, RunError):
            return None

    def keep(self, cell: TransferRun, figures: dict[str, Any]) -> None:
        """Note what came of a cell; its weights have done their work."""
        (self.path / "cells").mkdir(exist_ok=True)
        write_json(self.path / "cells" / f"{cell.name}.json", figures)
        remove_folder(self.run(cell).path / "checkpoints")

    def cells(self, asked: dict[str, Any]) -> list[TransferRun]:
        """Return all runs there are to be, smallest sets first, so that the table fills from the left."""
        return [
            TransferRun(method, size, seed)
            for size in asked["sizes"]
            for seed in range(1, asked["seeds"] + 1)
            for method in asked["methods"]
        ]


def claim_transfer(path: Path, asked: dict[str, Any], overwrite: bool) -> Transfer:
    """Return a transfer that may begin in this folder, or go on there because the same was asked for."""
    found = Transfer(path)
    if found.exists and overwrite:
        found.clear()
    elif found.exists:
        before = found.record["asked"]
        for name in [*before, *asked]:
            if before.get(name) != asked.get(name):
                found.refuse(f"whose {name} is {_shown(before.get(name))}, not {_shown(asked.get(name))}")
    else:
        found.check_free()
    try:
        path.mkdir(parents=True, exist_ok=True)
        write_json(found.file, {"format": FORMAT, "asked": asked})
    except OSError as error:
        raise RunError(f"{path}: nothing can be written there ({error.strerror}); choose another --out.") from None
    return found


def _shown(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return listed(["all" if each is None else each for each in value])
    return json.dumps(value)
