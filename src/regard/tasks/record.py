"""Schemas of a run's record (run.json) and of score passports."""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, TypeVar

from pydantic import AfterValidator, Field, PrivateAttr, ValidationError, model_validator

from regard import registry
from regard.checkpoint.facts import ExtraVectorsRecord, OriginRecord
from regard.config.names import FileName
from regard.config.records import Count, Record, check_record, first_problem, read_json
from regard.config.settings import Settings
from regard.errors import RegardError, RunError

RECORD = "run.json"
WHAT = "the record of a run that this version of regard can read"
HAS_STOPPED = ("finished", "no improvement", "interrupted")
"""States of a run that has stopped; its record has the last step."""

S = TypeVar("S", bound=Settings)
C = TypeVar("C", bound=Record)
F = TypeVar("F", bound=Record)


def _timestamp(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f'"{text[:60]}" is not a date and time') from None
    if moment.tzinfo is None:
        raise ValueError(f'"{text[:60]}" has no time zone')
    return text


Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Moment = Annotated[str, AfterValidator(_timestamp)]


class DataReport(Record):
    """The data of a run, as far as tasks have it in common; each task extends it."""

    sources: ClassVar[type[Record]] = Record
    """Schema of `settings.data`."""

    hash: str
    files: dict[str, str] = Field(default_factory=dict)
    init_from: OriginRecord | None = None
    extra_vectors: ExtraVectorsRecord | None = None

    @property
    def plan(self) -> dict[str, Any]:
        """The sizes that a dry run prints."""
        return {}


class SetSources(Record, Generic[F]):
    """The files (F) of every set, in `settings.data`."""

    train: F
    valid: F | None = None
    test: dict[str, F]


class SetReport(DataReport, Generic[C]):
    """The counts (C) of every set; each test set is a further field `test NAME`."""

    train: C
    valid: C

    @model_validator(mode="after")
    def _counts_every_set(self) -> "SetReport[C]":
        for name, value in self._tests.items():
            try:
                type(self.train).model_validate(value)
            except ValidationError as error:
                raise ValueError(first_problem(error, name)) from None
        return self

    @property
    def _tests(self) -> dict[str, object]:
        return {name: value for name, value in (self.model_extra or {}).items() if name.startswith("test ")}

    @property
    def sets(self) -> dict[str, C]:
        """The counts of every set by its name."""
        tests = {name: type(self.train).model_validate(value) for name, value in self._tests.items()}
        return {"train": self.train, "valid": self.valid} | tests


class ScoreRecord(Record):
    """One score, and how it was computed."""

    name: str
    value: float | None
    signature: str
    key: str


class HashesRecord(Record):
    """The hashes that identify a test set."""

    sources: str
    references: list[str]


class ScoresRecord(Record):
    """An evaluation on one set: further fields are its metrics and details; the first of its scores ranks runs."""

    scores: list[ScoreRecord] = Field(min_length=1)
    intervals: dict[str, list[float]]
    decode: dict[str, Any]
    test_set: HashesRecord

    @model_validator(mode="after")
    def _has_the_metrics_of_its_intervals(self) -> "ScoresRecord":
        for name, interval in self.intervals.items():
            if self.metric(name) is None or len(interval) != 2:
                raise ValueError(f"intervals.{name} belongs to no metric")
        return self

    def metric(self, key: str) -> float | None:
        """Return a metric by its key; None where there is none."""
        value = (self.model_extra or {}).get(key)
        return value if isinstance(value, int | float) else None


class OutputsRecord(Record):
    """The file with the outputs of a passport, beside it."""

    file: FileName
    sha256: str


class PassportRecord(Record):
    """A score passport, of any task."""

    passport: int
    set: str
    scores: list[ScoreRecord] = Field(min_length=1)
    decode: dict[str, Any]
    test_set: HashesRecord
    outputs: OutputsRecord
    checkpoint: OriginRecord | None = None


class ModelChoice(Record):
    """The model of a run."""

    family: str
    preset: str | None = None


class SettingsRecord(Record):
    """The settings of a run, as far as tasks have them in common; resuming checks all of them."""

    task: str
    about: str | None = None
    model: ModelChoice
    train: dict[str, Any]
    data: dict[str, Any]
    _names: tuple[str, ...] = PrivateAttr(())

    @model_validator(mode="wrap")
    @classmethod
    def _keep_order(cls, values: Any, check: Any) -> "SettingsRecord":
        record: SettingsRecord = check(values)
        record._names = tuple(values) if isinstance(values, dict) else values._names
        return record

    @property
    def plain(self) -> dict[str, Any]:
        """All settings as plain values, in the order of the file."""
        values = self.model_dump(exclude_unset=True)
        return {name: values[name] for name in self._names}


class ProcessRecord(Record):
    """The process that trains a run."""

    pid: Annotated[int, Field(ge=1, lt=2**31)] | None = None
    host: str | None = None
    began: int | None = None
    launch: str = ""
    """Name of the launch by torchrun that it belongs to."""


class MachineRecord(Record):
    """The machine a run was trained on."""

    device: str
    threads: Count

    @property
    def plain(self) -> dict[str, Any]:
        """All of it as plain values."""
        return self.model_dump(exclude_unset=True)


class RunRecord(Record):
    """The record of a run; `data`, `machine` and `parameters` are set once its data is prepared."""

    path: Path = Field(exclude=True)
    """The run's folder."""
    format: int
    state: str
    task: str
    settings: SettingsRecord
    packages: dict[str, str] = Field(default_factory=dict)
    """The packages that its task and family come from, by name; none for what is built in."""
    sources: dict[str, str]
    started: Moment | None = None
    regard: str = ""
    process: ProcessRecord = ProcessRecord()
    updates: Count = 0
    steps: Count | None = None
    best_step: Count | None = None
    seconds: Seconds = 0.0
    data_wait_seconds: Seconds = 0.0
    machine: MachineRecord | None = None
    parameters: Count | None = None
    data: Any = None
    """The data report, typed by the task."""
    scores: dict[str, dict[str, Any]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_what_its_state_needs(self) -> "RunRecord":
        if self.task != self.settings.task:
            raise ValueError(f"task is {self.task}, but settings.task {self.settings.task}")
        given = self.model_fields_set
        required = ["steps", "best_step", "seconds"] if self.state in HAS_STOPPED or "steps" in given else []
        if self.state != "preparing":
            required += ["started", "regard", "machine", "parameters", "data"]
        for name in required:
            if name not in given or getattr(self, name) is None:
                raise ValueError(f"{name} is missing")
        return self

    @property
    def is_prepared(self) -> bool:
        """True where the data is prepared, and training could start."""
        return self.data is not None and self.machine is not None and self.parameters is not None

    @property
    def report(self) -> Any:
        """The data report; a run without one is refused."""
        if self.data is None:
            raise RunError(f"{self.path}: this run has not begun to train ({self.state}); resume it with --resume.")
        return self.data

    def data_settings(self, schema: type[S]) -> S:
        """Return the sources of its data, as settings of a task."""
        try:
            return schema.model_validate_json(json.dumps(self.settings.data))
        except ValidationError as error:
            raise RunError(
                f"{self.path / RECORD}: this is not {WHAT} ({first_problem(error, 'settings.data')})."
            ) from None


def read_run_record(folder: Path, version: int) -> RunRecord:
    """Return the record in a run's folder, validated; a missing file raises FileNotFoundError."""
    path = folder / RECORD
    value = read_json(path, RunError, WHAT)
    values = dict(value) | {"path": folder} if isinstance(value, dict) else value
    record = check_record(values, path, RunRecord, RunError, WHAT)
    if record.format != version:
        raise RunError(f"{path}: this is not {WHAT} (format is {record.format}, not {version}).")
    if missing := registry.missing_package(record.packages):
        raise RunError(f"{path}: {missing}")
    if not registry.has_task(record.task):
        known = ", ".join(registry.task_names())
        raise RunError(f'{path}: this is not {WHAT} (task: "{record.task[:60]}" is not one of {known}).')
    task = registry.task(record.task)
    check_record(record.settings.data, path, task.report.sources, RunError, WHAT, group="settings.data")
    if record.state == "preparing":
        return record
    report = check_record(value["data"], path, task.report, RunError, WHAT, group="data")
    for name, metrics in record.scores.items():
        check_scores(task, metrics, path, RunError, WHAT, f"scores.{name}")
    return record.model_copy(update={"data": report})


def check_scores(
    task: Any, values: Mapping[str, Any], path: str | Path, error: type[RegardError], what: str, group: str = ""
) -> None:
    """Refuse an evaluation whose fields are not what its task writes, or whose metrics are no numbers."""
    scores = check_record(values, path, task.scores, error, what, group=group)
    for key in (task.counted[0], *(each.key for each in task.metrics)):
        if values.get(key) is not None and scores.metric(key) is None:
            raise error(f"{path}: this is not {what} ({group}{'.' if group else ''}{key} is not a number).")
