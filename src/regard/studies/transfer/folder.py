"""A transfer on disk: what was asked for, its split, its starts, its runs and what came of each."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.checkpoint import write_json
from regard.errors import RunError
from regard.studies.run import LOCK, Run

RECORD, RESULTS, REPORT = "transfer.json", "results.json", "report.html"
FORMAT = 1
FOLDERS = ("data", "starts", "runs", "cells")


@dataclass(frozen=True)
class Cell:
    """One run: a method, a number of examples (None: all) and a seed."""

    method: str
    size: int | None
    seed: int

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"{self.method}-{self.size or 'all'}-{self.seed}"


@dataclass(frozen=True)
class Transfer:
    """The folder of a transfer."""

    path: Path

    @property
    def exists(self) -> bool:
        """Whether there is one in the folder."""
        return (self.path / RECORD).is_file()

    @property
    def record(self) -> dict[str, Any]:
        """What was asked for."""
        try:
            record = dict(json.loads((self.path / RECORD).read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise RunError(f"{self.path}: there is no transfer here ({RECORD} is missing); check the path.") from None
        except (ValueError, TypeError):
            raise RunError(f"{self.path / RECORD}: this record of a transfer cannot be read.") from None
        if record.get("format") != FORMAT or "asked" not in record:
            raise RunError(f"{self.path / RECORD}: this is no record that this version of regard can read.")
        return record

    @property
    def results(self) -> dict[str, Any]:
        """All figures, once a run has finished."""
        path = self.path / RESULTS
        if not path.is_file():
            raise RunError(f"{self.path}: no run of this transfer has finished yet; go on with the same command.")
        return dict(json.loads(path.read_text(encoding="utf-8")))

    @property
    def report(self) -> Path:
        """The report, one file with everything in it."""
        return self.path / REPORT

    def run(self, cell: Cell) -> Run:
        """Return the run of a cell."""
        return Run(self.path / "runs" / cell.name)

    def start(self, name: str) -> Run:
        """Return the run of something that was pretrained here."""
        return Run(self.path / "starts" / name)

    def figures(self, cell: Cell) -> dict[str, Any] | None:
        """Return what came of a cell, if it is done."""
        try:
            return dict(json.loads((self.path / "cells" / f"{cell.name}.json").read_text(encoding="utf-8")))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def keep(self, cell: Cell, figures: dict[str, Any]) -> None:
        """Note what came of a cell; its weights have done their work."""
        (self.path / "cells").mkdir(exist_ok=True)
        write_json(self.path / "cells" / f"{cell.name}.json", figures)
        shutil.rmtree(self.run(cell).path / "checkpoints", ignore_errors=True)

    def cells(self, asked: dict[str, Any]) -> list[Cell]:
        """Return all runs there are to be, smallest sets first, so that the table fills from the left."""
        return [
            Cell(method, size, seed)
            for size in asked["sizes"]
            for seed in range(1, asked["seeds"] + 1)
            for method in asked["methods"]
        ]


def claim_transfer(path: Path, asked: dict[str, Any], overwrite: bool) -> Transfer:
    """Return a transfer that may begin in this folder, or go on there because the same was asked for."""
    found = Transfer(path)
    if found.exists and overwrite:
        for folder in FOLDERS:
            shutil.rmtree(path / folder, ignore_errors=True)
        for name in (*(each.name for each in path.glob("*.png")), RESULTS, REPORT, RECORD):
            (path / name).unlink(missing_ok=True)
    elif found.exists:
        before = found.record["asked"]
        for name in [*before, *asked]:
            if before.get(name) != asked.get(name):
                raise RunError(
                    f"{path}: there is a transfer here already, whose {name} is {_shown(before.get(name))}, not "
                    f"{_shown(asked.get(name))}; give what it was begun with to go on, replace it with --overwrite, "
                    f"or choose another folder with --out."
                )
    elif path.exists() and (not path.is_dir() or any(each.name != LOCK for each in path.iterdir())):
        raise RunError(f"{path}: this exists and is no transfer; choose another folder with --out.")
    try:
        path.mkdir(parents=True, exist_ok=True)
        write_json(path / RECORD, {"format": FORMAT, "asked": asked})
    except OSError as error:
        raise RunError(f"{path}: nothing can be written there ({error.strerror}); choose another --out.") from None
    return found


def _shown(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join("all" if each is None else str(each) for each in value)
    return json.dumps(value)
