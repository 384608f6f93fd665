"""The plan of a run: its sizes, counted before anything is trained."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from regard.config.resolve import Resolved
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.families import count_parameters, family
from regard.models.presets import preset
from regard.progress import SILENT, Progress, duration
from regard.runs.planning.autopilot import PlannedValue, planned_values
from regard.tasks.contract import find_task
from regard.tasks.data import Prepared
from regard.tasks.init_from import run_context
from regard.tasks.settings import RunSettings
from regard.training.device.machine import prepare_machine
from regard.training.settings import LoopSettings, TrainSettings

TIMED = "within "
"""The first word about the end of a run with a time limit."""


@dataclass(frozen=True)
class Plan:
    """The size of a run."""

    task: str
    preset: str | None
    parameters: int
    vocabulary: int
    updates: int | None
    """The number of updates, at most; None: the clock ends the run, and the pace is not measured."""
    updates_per_epoch: int
    epochs: float | None
    device: str
    data: dict[str, Any] = field(default_factory=dict)
    """The sizes of the data, as the task counts them."""
    seconds: float | None = None
    """Estimated training time; None: not measured."""
    end: str = "after the last update"
    """The event that ends the run, in words."""
    planned: Mapping[str, PlannedValue] = field(default_factory=dict)
    """The values that nobody has set, by setting, with their reasons."""

    def measured(self, updates: int, seconds: float) -> "Plan":
        """Return it with a number of updates and a training time as measured."""
        return replace(self, updates=updates, epochs=round(updates / self.updates_per_epoch, 1), seconds=seconds)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, the sizes of the data after the model's."""
        values = vars(self) | {"planned": {name: vars(each) for name, each in self.planned.items()}}
        data = values.pop("data")
        first = ("task", "preset", "parameters", "vocabulary")
        return {name: values.pop(name) for name in first} | data | values

    def rows(self) -> list[tuple[str, str]]:
        """Return names and values in words."""
        values = {name: value for name, value in self.to_dict().items() if name != "planned"}
        scope = "in all" if self.end.startswith(TIMED) else "without validation"
        if (seconds := values.pop("seconds")) is not None:
            values["training time"] = f"about {duration(seconds)}, {scope}"
        return [(name.replace("_", " "), _shown(value)) for name, value in values.items()]


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(each)}" for name, each in value.items()) or "none"
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else str(value)


def plan_run(
    run: RunSettings[ModelSettings] | Resolved[Any], progress: Progress = SILENT
) -> tuple[Plan, Prepared[Any]]:
    """Load the data, build the model, and count; no run is written (tokenized text is kept for it)."""
    settings: RunSettings[ModelSettings] = run.settings if isinstance(run, Resolved) else run
    machine, task = prepare_machine(settings.machine), find_task(settings.task)
    context = run_context(settings, machine, progress)
    data = task.load_data(settings, context)
    prepared = task.prepare(settings, data, task.build(settings, data, context), context)
    per_epoch = prepared.feed.updates_in(epoch=0)
    train = settings.train.planned(per_epoch)
    updates = None if isinstance(train, TrainSettings) and train.is_open else train.steps
    plan = Plan(
        task=settings.task,
        preset=settings.model.preset,
        parameters=sum(parameter.numel() for parameter in prepared.bundle.model.parameters()),
        vocabulary=prepared.bundle.vocabularies.target,
        updates=updates,
        updates_per_epoch=per_epoch,
        epochs=None if updates is None else round(updates / per_epoch, 1),
        device=str(machine.device),
        data=task.plan(prepared),
        end=_end(train),
        planned=planned_values(run) if isinstance(run, Resolved) else {},
    )
    return plan, prepared


def _end(train: LoopSettings) -> str:
    """Return what ends a run, in words."""
    ends = []
    if isinstance(train, TrainSettings):
        ends += [f"{TIMED}{train.minutes:g} minutes"] if train.minutes is not None else []
        ends += ["when validation stops improving"] if train.patience else []
        if train.is_open:
            return " or ".join(ends)
    return " or ".join([*ends, "after the last update"])


def preset_parameters(name: str, vocabulary: int) -> int:
    """Return the number of parameters of a preset with that many shared tokens."""
    chosen = preset(name)
    settings = family(chosen.settings["family"]).settings(**chosen.settings)
    return count_parameters(settings, Vocabularies(vocabulary, vocabulary, is_shared=True))
