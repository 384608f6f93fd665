"""The folder of a tuning: its request, the length of each trial, their runs, the results, and the recipe."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from regard.checkpoint.atomic import write_json
from regard.config.names import FileName, inside
from regard.config.records import Record
from regard.errors import RunError
from regard.runs.run import Run
from regard.studies.folder import ENDED, FORMAT, StudyFolder, StudyRecord
from regard.studies.race.records import PlannedRecord

RECIPE = "recipe.toml"


class AskedTuning(Record):
    """The request: the recipe with its overrides resolved, and the time."""

    recipe: str
    minutes: float
    settings: dict[str, Any]
    candidates: dict[FileName, dict[str, Any]]


class TuneRecord(StudyRecord):
    """The tune.json."""

    asked: AskedTuning
    rounds: list[dict[FileName, PlannedRecord]] = Field(default_factory=list)
    """The trials of each round that has begun, with their lengths."""


class TrialRecord(Record):
    """The result of a trial."""

    name: str
    round: int
    changes: dict[str, Any]
    steps: int
    score: float | None
    """The selection metric at its best; None: the trial failed."""


class TuneResults(Record):
    """The results.json of a tuning."""

    metric: str
    trials: list[TrialRecord]
    winner: str
    verdict: str


@dataclass(frozen=True)
class Tuning(StudyFolder):
    """The folder of a tuning."""

    kind = "tune"
    part = "trial"
    results_schema = TuneResults
    folders = ("runs",)

    @property
    def record(self) -> TuneRecord:
        """The request, and the rounds so far."""
        return self.read_as(TuneRecord)

    @property
    def recipe(self) -> Path:
        """The file of the recipe."""
        return self.path / RECIPE

    @property
    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """A row for each trial, in the order of the rounds, under a header."""
        results = self.results
        rows: list[tuple[str, ...]] = [
            (str(each["round"]), str(each["name"]), f"{each['steps']:,}", _score(each["score"]))
            for each in results["trials"]
        ]
        return ("round", "trial", "steps", f"valid {results['metric']}"), rows

    def run(self, number: int, name: str) -> Run:
        """Return the run of a trial in a round, counted from 1."""
        return Run(inside(self.path / "runs", f"{number}-{name}", self.file, RunError))

    def has_ended(self, number: int, name: str) -> bool:
        """Return True once a trial has been trained to its end."""
        return self.run(number, name).state in ENDED

    def write(self, record: TuneRecord) -> None:
        """Write the record."""
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(self.file, record.model_dump(mode="json"))

    def clear(self) -> None:
        """Remove the files of the study and nothing else."""
        super().clear()
        self.recipe.unlink(missing_ok=True)


def _score(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def claim_tuning(path: Path, asked: AskedTuning, overwrite: bool) -> Tuning:
    """Return the tuning of a folder: a new one, or one to resume because the request is the same."""
    tuning = Tuning(path)
    if tuning.exists and overwrite:
        tuning.clear()
    if not tuning.exists:
        tuning.check_free()
        tuning.write(TuneRecord(format=FORMAT, asked=asked))
        return tuning
    before, now = (each.model_dump(mode="json") for each in (tuning.record.asked, asked))
    for name, value in now.items():
        if before[name] != value:
            is_short = not isinstance(value, dict)
            words = f" is {json.dumps(before[name])}, not {json.dumps(value)}" if is_short else " are others"
            tuning.refuse(f"its {name}{words}")
    return tuning
