"""The schema of run.json, by task: whatever callers look up in a run's record is there and of its type."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from regard.config.records import Count, Record, check_record, read_json
from regard.errors import RunError
from regard.runs.scores.records import (
    AnalogyFigures,
    ElmoFigures,
    LabelFigures,
    MaskedLmScores,
    TextFigures,
    TranslationFigures,
)
from regard.runs.store.data_records import (
    ExampleDataRecord,
    ExamplePlaces,
    MarkedPlaces,
    PairDataRecord,
    PairPlaces,
    SpelledData,
    TextDataRecord,
    TextPlaces,
    WordDataRecord,
    WordPlaces,
)

WHAT = "the record of a run that this version of regard can read"
HAS_STOPPED = ("finished", "no improvement", "interrupted")
"""States that are noted with the step that was reached."""


def _moment(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f'"{text[:60]}" is not a date and time') from None
    if moment.tzinfo is None:
        raise ValueError(f'"{text[:60]}" has no time zone')
    return text


Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Moment = Annotated[str, AfterValidator(_moment)]


class ModelChoice(Record):
    """Which model a run has."""

    family: str
    preset: str | None = None


class SettingsRecord(Record):
    """What is looked up in a run's settings; all of them are checked when it is resumed."""

    task: str
    about: str | None = None
    model: ModelChoice
    train: dict[str, Any]
    data: dict[str, Any]


class ProcessRecord(Record):
    """Which process trains a run."""

    pid: Annotated[int, Field(ge=1, lt=2**31)] | None = None
    host: str | None = None
    began: int | None = None


class MachineRecord(Record):
    """What a run was trained on."""

    device: str
    threads: Count


class RunRecord(Record):
    """What every run has."""

    format: int
    state: str
    task: str
    settings: SettingsRecord
    sources: dict[str, str]
    started: Moment | None = None
    process: ProcessRecord = ProcessRecord()
    updates: Count = 0
    steps: Count | None = None
    best_step: Count | None = None
    seconds: Seconds = 0.0
    waited: Seconds = 0.0

    @model_validator(mode="after")
    def _says_where_it_stopped(self) -> "RunRecord":
        if self.task != self.settings.task:
            raise ValueError(f"task is {self.task}, but settings.task {self.settings.task}")
        given = self.model_fields_set
        needed = ("steps", "best_step", "seconds") if self.state in HAS_STOPPED or "steps" in given else ()
        for name in needed:
            if name not in given or getattr(self, name) is None:
                raise ValueError(f"{name} is missing")
        return self


class PreparedRecord(RunRecord):
    """What a run has as soon as its data is ready."""

    started: Moment
    regard: str
    machine: MachineRecord
    parameters: Count
    data: dict[str, Any]
    scores: dict[str, dict[str, Any] | list[Any]] = Field(default_factory=dict)


@dataclass(frozen=True)
class TaskRecords:
    """What the record of a task's run holds in particular."""

    places: type[Record]
    data: type[Record]
    figures: type[Record]


TUNED = TaskRecords(ExamplePlaces, ExampleDataRecord, LabelFigures)
TASKS = {
    **dict.fromkeys(("answer", "choose", "classify", "regress", "tag"), TUNED),
    "elmo": TaskRecords(TextPlaces, SpelledData, ElmoFigures),
    "language-model": TaskRecords(TextPlaces, TextDataRecord, TextFigures),
    "masked-language-model": TaskRecords(MarkedPlaces, TextDataRecord, MaskedLmScores),
    "translate": TaskRecords(PairPlaces, PairDataRecord, TranslationFigures),
    "vectors": TaskRecords(WordPlaces, WordDataRecord, AnalogyFigures),
}


def read_run_record(path: Path, version: int) -> dict[str, Any]:
    """Return what a run.json says, all of it checked; a missing file is left to the caller (FileNotFoundError)."""
    value = read_json(path, RunError, WHAT)
    found = check_record(value, path, RunRecord, RunError, WHAT)
    if found.format != version:
        raise RunError(f"{path}: this is not {WHAT} (format is {found.format}, not {version}).")
    if found.task not in TASKS:
        raise RunError(f'{path}: this is not {WHAT} (task: "{found.task[:60]}" is not one of {", ".join(TASKS)}).')
    wanted, check = TASKS[found.task], partial(check_record, origin=path, error=RunError, what=WHAT)
    check(value["settings"]["data"], schema=wanted.places, group="settings.data")
    if found.state != "preparing":
        check(value, schema=PreparedRecord)
        check(value["data"], schema=wanted.data, group="data")
        _check_scores(value.get("scores", {}), wanted.figures, check)
    return dict(value)


def _check_scores(scores: Mapping[str, Any], schema: type[Record], check: Callable[..., Record]) -> None:
    if schema is AnalogyFigures:
        check(scores, schema=schema, group="scores")
        return
    for name, figures in scores.items():
        check(figures, schema=schema, group=f"scores.{name}")
