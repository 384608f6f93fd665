"""The folder of a study of many runs: what was asked for, its runs, its figures and its report."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from regard.errors import RunError
from regard.studies.run import LOCK, Run
from regard.studies.runs import check_deletable

RESULTS, REPORT = "results.json", "report.html"
FORMAT = 1
ENDED = ("finished", "no improvement")
"""States of a run that has nothing left to do."""


@dataclass(frozen=True)
class StudyFolder:
    """The folder of one study; its kind says what the study is called, and which files and folders are its own."""

    path: Path

    kind: ClassVar[str]
    part: ClassVar[str]
    """What it is made of, each of which has a run."""
    holds: ClassVar[tuple[str, ...]]
    """What its record has beside the format."""
    folders: ClassVar[tuple[str, ...]]

    @property
    def file(self) -> Path:
        """The record."""
        return self.path / f"{self.kind}.json"

    @property
    def exists(self) -> bool:
        """Whether there is one in the folder."""
        return self.file.is_file()

    @property
    def record(self) -> dict[str, Any]:
        """What was asked for, and what was planned."""
        try:
            record = dict(json.loads(self.file.read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise RunError(
                f"{self.path}: there is no {self.kind} here ({self.file.name} is missing); check the path."
            ) from None
        except (ValueError, TypeError):
            raise RunError(f"{self.file}: this record of a {self.kind} cannot be read.") from None
        if record.get("format") != FORMAT or not set(self.holds) <= set(record):
            raise RunError(f"{self.file}: this is no record of a {self.kind} that this version of regard can read.")
        return record

    @property
    def results(self) -> dict[str, Any]:
        """All figures, once something has finished."""
        path = self.path / RESULTS
        if not path.is_file():
            raise RunError(
                f"{self.path}: no {self.part} of this {self.kind} has finished yet; go on with the same command."
            )
        try:
            return dict(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError):
            raise RunError(f"{path}: these results cannot be read; the same command writes them anew.") from None

    @property
    def report(self) -> Path:
        """The report, one file with everything in it."""
        return self.path / REPORT

    def check_free(self) -> None:
        """Refuse a folder that is something else."""
        is_empty = self.path.is_dir() and all(entry.name == LOCK for entry in self.path.iterdir())
        if self.path.exists() and not is_empty:
            raise RunError(f"{self.path}: this exists and is not a {self.kind}; choose another folder with --out.")

    def refuse(self, words: str) -> None:
        """Say that something else was asked for before, and the ways out."""
        raise RunError(
            f"{self.path}: there is a {self.kind} here already, {words}; give what it was begun with to go on, "
            f"replace it with --overwrite, or choose another folder with --out."
        )

    def clear(self) -> None:
        """Remove the study and nothing else that lies in its folder; its record goes last: it can be repeated."""
        for run in (self.path / "runs").glob("*"):
            if Run(run).exists:
                check_deletable(Run(run))
        for folder in self.folders:
            shutil.rmtree(self.path / folder, ignore_errors=True)
        for path in [*self.path.glob("*.png"), self.path / RESULTS, self.report, self.file]:
            path.unlink(missing_ok=True)


def listed(values: Sequence[Any]) -> str:
    """Return values with commas between."""
    return ", ".join(map(str, values))
