"""Disciplines of races: the measurements, plots and report sections for one kind of model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from regard.errors import ConfigError
from regard.models.base.settings import ModelSettings
from regard.progress import SILENT, Progress, duration
from regard.runs.preflight import preflight
from regard.runs.run import Run
from regard.studies.doctor.trial import TrialSetup
from regard.studies.race.charts import Chart
from regard.studies.race.records import MeasuredRecord
from regard.tasks.contract import AnyTask, find_task
from regard.tasks.data import EvalSet
from regard.tasks.declarations import Context, Metric
from regard.tasks.init_from import run_context
from regard.tasks.record import RunRecord
from regard.tasks.settings import RunSettings
from regard.training.device.machine import prepare_machine

Results = Mapping[str, Any]
"""The results.json of a race."""


class SharedData:
    """The data of several runs, loaded and checked once, with the settings that all of them have."""

    def __init__(self, settings: RunSettings[ModelSettings], progress: Progress = SILENT) -> None:
        self.settings, self.progress = settings, progress
        self.task = find_task(settings.task)

    @cached_property
    def data(self) -> object:
        """The data, as the task loads it."""
        data = self.task.load_data(self.settings, self._context(self.settings, self.progress))
        preflight(self.settings, data, self.progress)
        return data

    @cached_property
    def held_out(self) -> EvalSet:
        """The set that members are measured on: the first test set, or the validation set where there is none."""
        return next(iter(self.trial_setup(self.settings).prepared.tests.values()))

    def trial_setup(self, settings: RunSettings[ModelSettings], progress: Progress = SILENT) -> TrialSetup:
        """Return a member prepared for a trial."""
        context = self._context(settings, progress)
        bundle = self.task.build(settings, self.data, context)
        return TrialSetup(settings, self.task.prepare(settings, self.data, bundle, context), context.machine)

    @staticmethod
    def _context(settings: RunSettings[ModelSettings], progress: Progress) -> Context:
        return run_context(settings, prepare_machine(settings.machine), progress)


@dataclass(frozen=True)
class Discipline:
    """The measurements, plots and report sections of the races of one kind of model."""

    schema: type[MeasuredRecord]
    """Schema of the measurements of a member."""
    measure: Callable[[Run, EvalSet, str], dict[str, Any]]
    """Returns the measurements on a member's best checkpoint, beside its scores."""
    facts: Callable[[RunRecord, dict[str, Any]], dict[str, Any]]
    """Returns the results that all members share, from the record and the measurements of the first one."""
    member: Callable[[RunRecord, Sequence[dict[str, Any]], dict[str, Any]], dict[str, Any]]
    """Returns the results of a member, from its record, its metrics.jsonl and its measurements."""
    plots: Callable[[Results], list[Chart]]
    sections: Callable[[Results, Mapping[str, Chart], Mapping[str, str]], list[str]]
    subtitle: Callable[[Results], tuple[str, str]]
    """Returns the training data of all members, and the number of examples they are scored on."""
    note: Callable[[Results], str]
    """Returns the definition of the metrics in the table."""


def race_metrics(task: AnyTask) -> tuple[Metric, ...]:
    """Return the columns of a race's table; the first decides the order."""
    if not task.has_trials:
        raise ConfigError(f"regard race: {task.wording.plural} have their own trainer and cannot be raced.")
    raced = tuple(metric for metric in task.metrics if metric.is_raced)
    return raced or tuple(metric for metric in task.metrics if metric.is_validated) or task.metrics[:1]


def column_records(task: AnyTask) -> list[dict[str, Any]]:
    """Return the columns of a race's table as plain values."""
    return [{key: asdict(metric)[key] for key in ("key", "label", "format", "best")} for metric in race_metrics(task)]


def ranking_table(results: Results) -> tuple[list[str], list[list[str]]]:
    """Return a header and a row for each member, the best one first."""
    columns = results["columns"]
    rows = [
        [
            each["name"],
            *(format(each[column["key"]], column["format"]) for column in columns),
            f"{each['parameters']:,}",
            f"{each['steps']:,}",
            f"{each['times']['tokens_per_second']:,.0f}",
            duration(each["times"]["seconds"]),
        ]
        for each in ranked(results)
    ]
    titles = (column["label"] for column in columns)
    return ["model", *titles, "parameters", "steps", "tokens/s", "training"], rows


def ranked(results: Results) -> list[dict[str, Any]]:
    """Return the members of a race, the best one first."""
    first = results["columns"][0]
    sign = -1 if first["best"] == "max" else 1
    return sorted(results["members"], key=lambda each: sign * each[first["key"]])
