"""The folder of a race: its request and plan, the runs of its members, and their measurements."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from regard.checkpoint.atomic import write_json
from regard.config.names import inside
from regard.config.settings import flatten
from regard.errors import RunError
from regard.runs.run import Run
from regard.studies.folder import ENDED, FORMAT, StudyFolder, listed
from regard.studies.race.records import AskedRecord, PlannedRecord, RaceRecord, RaceResults


@dataclass(frozen=True)
class Race(StudyFolder):
    """The folder of a race."""

    kind = "race"
    part = "member"
    results_schema = RaceResults
    folders = ("runs", "measures")

    @property
    def record(self) -> RaceRecord:
        """The request and the plan."""
        return self.read_as(RaceRecord)

    @property
    def is_finished(self) -> bool:
        """True once every member has finished training and was scored."""
        return all(self.has_ended(name) for name in self.record.plan)

    def run(self, member: str) -> Run:
        """Return the run of a member."""
        return Run(inside(self.path / "runs", member, self.file, RunError))

    def has_ended(self, member: str) -> bool:
        """Return True once a member has finished training and was scored."""
        run = self.run(member)
        return run.state in ENDED and bool(run.scores)

    def measures(self, member: str) -> Path:
        """Return the file of a member's measurements."""
        return inside(self.path / "measures", f"{member}.json", self.file, RunError)

    def begin(self, asked: AskedRecord, plan: dict[str, PlannedRecord]) -> None:
        """Write the record of a new race."""
        self.path.mkdir(parents=True, exist_ok=True)
        record = RaceRecord(format=FORMAT, asked=asked, plan=plan)
        write_json(self.file, record.model_dump(mode="json"))


def claim_race(path: Path, asked: AskedRecord, overwrite: bool) -> Race:
    """Return the race of a folder: a new one, or one to resume because the request is the same."""
    race = Race(path)
    if race.exists and overwrite:
        race.clear()
    elif race.exists:
        if difference := _difference(race.record.asked, asked):
            race.refuse(difference)
    else:
        race.check_free()
    return race


def check_writable(path: Path) -> None:
    """Refuse a folder that is not writable, before any trial."""
    nearest = next(each for each in (path, *path.absolute().parents) if each.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise RunError(f"{path}: nothing can be written there ({nearest} does not allow it); choose another --out.")


def _difference(before: AskedRecord, now: AskedRecord) -> str:
    """Return the first difference between two requests in words; empty if they are the same."""
    if before.budget != now.budget:
        return f"its budget is {before.budget}, not {now.budget}"
    if sorted(before.members) != sorted(now.members):
        return f"its members are {listed(list(before.members))}, not {listed(list(now.members))}"
    for member, settings in now.members.items():
        old, new = dict(flatten(before.members[member])), dict(flatten(settings))
        for name in [*old, *new]:
            if old.get(name) != new.get(name):
                return f"{name} of {member} is {json.dumps(old.get(name))}, not {json.dumps(new.get(name))}"
    return ""
