"""A race on disk: what was asked for, what was planned, the runs of its members, and what was measured."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.checkpoint.atomic import write_json
from regard.config.names import inside
from regard.config.settings import flatten
from regard.errors import RunError
from regard.runs.run import Run
from regard.studies.folder import ENDED, FORMAT, StudyFolder, listed
from regard.studies.race.records import RaceRecord, RaceResults


@dataclass(frozen=True)
class Race(StudyFolder):
    """The folder of a race."""

    kind = "race"
    part = "member"
    schema = RaceRecord
    results_schema = RaceResults
    folders = ("runs", "measures")

    @property
    def is_finished(self) -> bool:
        """Whether every member has nothing left to do."""
        return all(self.has_ended(name) for name in self.record["plan"])

    def run(self, member: str) -> Run:
        """Return the run of a member."""
        return Run(inside(self.path / "runs", member, self.file, RunError))

    def has_ended(self, member: str) -> bool:
        """Tell whether a member has learned all it may, and was scored."""
        run = self.run(member)
        return run.state in ENDED and bool(run.scores)

    def measures(self, member: str) -> Path:
        """Return where a member's measurements are kept."""
        return inside(self.path / "measures", f"{member}.json", self.file, RunError)

    def begin(self, asked: dict[str, Any], plan: dict[str, Any]) -> None:
        """Note a new race."""
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(self.file, {"format": FORMAT, "asked": asked, "plan": plan})


def claim_race(path: Path, asked: dict[str, Any], overwrite: bool) -> Race:
    """Return a race that may begin in this folder, or go on there because the same was asked for."""
    race = Race(path)
    if race.exists and overwrite:
        race.clear()
    elif race.exists:
        if words := _difference(race.record["asked"], asked):
            race.refuse(f"and {words}")
    else:
        race.check_free()
    return race


def check_writable(path: Path) -> None:
    """Refuse a folder that cannot be written to before anybody has waited for a trial."""
    nearest = next(each for each in (path, *path.absolute().parents) if each.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise RunError(f"{path}: nothing can be written there ({nearest} does not allow it); choose another --out.")


def _difference(before: dict[str, Any], now: dict[str, Any]) -> str:
    """Say the first thing that is asked for now and was not when the race began; nothing, if all is the same."""
    if before["budget"] != now["budget"]:
        return f"its budget is {before['budget']}, not {now['budget']}"
    if sorted(before["members"]) != sorted(now["members"]):
        return f"its members are {listed(before['members'])}, not {listed(now['members'])}"
    for member, settings in now["members"].items():
        then, wanted = dict(flatten(before["members"][member])), dict(flatten(settings))
        for name in [*then, *wanted]:
            if then.get(name) != wanted.get(name):
                return f"{name} of {member} is {json.dumps(then.get(name))}, not {json.dumps(wanted.get(name))}"
    return ""
