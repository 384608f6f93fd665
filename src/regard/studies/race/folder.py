"""A race on disk: what was asked for, what was planned, the runs of its members, and what was measured."""

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.checkpoint import write_json
from regard.config import flatten
from regard.errors import RunError
from regard.studies.run import LOCK, Run
from regard.studies.runs import check_deletable

RECORD = "race.json"
RESULTS = "results.json"
REPORT = "report.html"
FORMAT = 1
ENDED = ("finished", "no improvement")
"""States of a run that has nothing left to do."""


@dataclass(frozen=True)
class Race:
    """The folder of a race."""

    path: Path

    @property
    def exists(self) -> bool:
        """Whether there is a race in the folder."""
        return (self.path / RECORD).is_file()

    @property
    def record(self) -> dict[str, Any]:
        """What was asked for, and what was planned for each member."""
        try:
            record = dict(json.loads((self.path / RECORD).read_text(encoding="utf-8")))
        except FileNotFoundError:
            raise RunError(f"{self.path}: there is no race here ({RECORD} is missing); check the path.") from None
        except (ValueError, TypeError):
            raise RunError(f"{self.path / RECORD}: this record of a race cannot be read.") from None
        if record.get("format") != FORMAT or not {"asked", "plan"} <= set(record):
            raise RunError(f"{self.path / RECORD}: this is no record of a race that this version of regard can read.")
        return record

    @property
    def results(self) -> dict[str, Any]:
        """All figures, once at least one member has finished."""
        path = self.path / RESULTS
        if not path.is_file():
            raise RunError(f"{self.path}: no member of this race has finished yet; go on with the same command.")
        try:
            return dict(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError):
            raise RunError(f"{path}: these results cannot be read; the same command writes them anew.") from None

    @property
    def report(self) -> Path:
        """The report, one file with everything in it."""
        return self.path / REPORT

    @property
    def is_finished(self) -> bool:
        """Whether every member has nothing left to do."""
        return all(self.has_ended(name) for name in self.record["plan"])

    def run(self, member: str) -> Run:
        """Return the run of a member."""
        return Run(self.path / "runs" / member)

    def has_ended(self, member: str) -> bool:
        """Tell whether a member has learned all it may, and was scored."""
        run = self.run(member)
        return run.exists and run.record["state"] in ENDED and "scores" in run.record

    def measures(self, member: str) -> Path:
        """Return where a member's measurements are kept."""
        return self.path / "measures" / f"{member}.json"

    def begin(self, asked: dict[str, Any], plan: dict[str, Any]) -> None:
        """Note a new race."""
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(self.path / RECORD, {"format": FORMAT, "asked": asked, "plan": plan})


def claim_race(path: Path, asked: dict[str, Any], overwrite: bool) -> Race:
    """Return a race that may begin in this folder, or go on there because the same was asked for."""
    race = Race(path)
    if race.exists and overwrite:
        _clear(race)
    elif race.exists:
        if words := _difference(race.record["asked"], asked):
            raise RunError(
                f"{path}: there is a race here already, and {words}; give what it was begun with to go on, replace "
                f"it with --overwrite, or choose another folder with --out."
            )
    elif path.exists() and (not path.is_dir() or any(entry.name != LOCK for entry in path.iterdir())):
        raise RunError(f"{path}: this exists and is not a race; choose another folder with --out.")
    return race


def check_writable(path: Path) -> None:
    """Refuse a folder that cannot be written to before anybody has waited for a trial."""
    nearest = next(each for each in (path, *path.absolute().parents) if each.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise RunError(f"{path}: nothing can be written there ({nearest} does not allow it); choose another --out.")


def _clear(race: Race) -> None:
    """Remove a race and nothing else that lies in its folder; its record goes last, so that it can be repeated."""
    for run in (race.path / "runs").glob("*"):
        if Run(run).exists:
            check_deletable(Run(run))
    for folder in ("runs", "measures"):
        shutil.rmtree(race.path / folder, ignore_errors=True)
    for path in [*race.path.glob("*.png"), *(race.path / name for name in (RESULTS, REPORT, RECORD))]:
        path.unlink(missing_ok=True)


def _difference(before: dict[str, Any], now: dict[str, Any]) -> str:
    """Say the first thing that is asked for now and was not when the race began; nothing, if all is the same."""
    if before["budget"] != now["budget"]:
        return f"its budget is {before['budget']}, not {now['budget']}"
    if sorted(before["members"]) != sorted(now["members"]):
        return f"its members are {_listed(before['members'])}, not {_listed(now['members'])}"
    for member, settings in now["members"].items():
        then, wanted = dict(flatten(before["members"][member])), dict(flatten(settings))
        for name in [*then, *wanted]:
            if then.get(name) != wanted.get(name):
                return f"{name} of {member} is {json.dumps(then.get(name))}, not {json.dumps(wanted.get(name))}"
    return ""


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)
