"""The folder of a transfer study: its request, split, pretrained models, runs, and the metrics of each run."""

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
    """The folder of a transfer study."""

    kind = "transfer"
    part = "run"
    results_schema = TransferResults
    folders = ("data", "pretrained", "runs", "cells")

    @property
    def record(self) -> TransferRecord:
        """The request."""
        return self.read_as(TransferRecord)

    @property
    def is_begun(self) -> bool:
        """True once a run was started for it."""
        return any((self.path / folder).exists() for folder in ("pretrained", "runs", "cells"))

    def run(self, cell: TransferRun) -> Run:
        """Return the folder of a run."""
        return Run(self.path / "runs" / cell.name)

    def pretrained(self, kind: str) -> Run:
        """Return the run of a model that is pretrained for the study."""
        return Run(self.path / "pretrained" / kind)

    def metrics(self, cell: TransferRun) -> dict[str, Any] | None:
        """Return the metrics of a run; None where it has not finished."""
        path = self.path / "cells" / f"{cell.name}.json"
        try:
            return read_record(path, CellRecord, RunError, "the metrics of a run").model_dump(exclude_unset=True)
        except (FileNotFoundError, RunError):
            return None

    def store(self, cell: TransferRun, metrics: dict[str, Any]) -> None:
        """Write the metrics of a run, and remove its checkpoints."""
        (self.path / "cells").mkdir(exist_ok=True)
        write_json(self.path / "cells" / f"{cell.name}.json", metrics)
        remove_folder(self.run(cell).path / "checkpoints")

    def cells(self, asked: dict[str, Any]) -> list[TransferRun]:
        """Return all runs of the study, those with the fewest examples first."""
        return [
            TransferRun(method, size, seed)
            for size in asked["sizes"]
            for seed in range(1, asked["seeds"] + 1)
            for method in asked["methods"]
        ]


def claim_transfer(path: Path, asked: dict[str, Any], overwrite: bool) -> Transfer:
    """Return the transfer study of a folder: a new one, or one to resume because the request is the same."""
    study = Transfer(path)
    if study.exists and overwrite:
        study.clear()
    elif study.exists:
        before = study.record.asked
        for name in [*before, *asked]:
            if before.get(name) != asked.get(name):
                study.refuse(f"{name} is {_shown(before.get(name))}, not {_shown(asked.get(name))}")
    else:
        study.check_free()
    try:
        path.mkdir(parents=True, exist_ok=True)
        write_json(study.file, {"format": FORMAT, "asked": asked})
    except OSError as error:
        raise RunError(f"{path}: nothing can be written there ({error.strerror}); choose another --out.") from None
    return study


def _shown(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return listed(["all" if each is None else each for each in value])
    return json.dumps(value)
