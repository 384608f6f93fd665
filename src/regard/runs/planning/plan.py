"""The plan of a run: its sizes, counted before anything is trained."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from regard.config.resolve import Resolved
from regard.errors import ConfigError
from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.families import count_parameters, family
from regard.models.presets import preset
from regard.progress import SILENT, Progress, duration
from regard.runs.planning.autopilot import PlannedValue, full_vocabularies, planned_values
from regard.runs.planning.cluster import ClusterPlan, Speed, plan_cluster
from regard.runs.planning.cluster_words import cluster_values
from regard.runs.planning.devices import DEVICES, Device, utilization
from regard.runs.planning.settings import ClusterSettings
from regard.runs.planning.workload import Workload, workload
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
    updates_per_epoch: int | None
    """None: the data were not read."""
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
    cluster: ClusterPlan | None = None
    """Memory, traffic and time on many devices; None: not asked for."""

    def measured(self, updates: int, seconds: float) -> "Plan":
        """Return it with a number of updates and a training time as measured."""
        assert self.updates_per_epoch, "a run is measured on its data"
        return replace(self, updates=updates, epochs=round(updates / self.updates_per_epoch, 1), seconds=seconds)

    def on(
        self, cluster: ClusterSettings, run: RunSettings[ModelSettings], load: Workload, device: Device, speed: Speed
    ) -> "Plan":
        """Return it with the strategies for a cluster, where one device has that speed."""
        assert isinstance(run.train, TrainSettings), "all that train in several processes have the common loop"
        product = 2 if device.type == "cuda" and run.machine.precision != "fp32" else 4
        return replace(self, cluster=plan_cluster(load, device, cluster, run.train, speed, product))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, the sizes of the data after the model's."""
        values = vars(self) | {"planned": {name: vars(each) for name, each in self.planned.items()}}
        data, cluster = values.pop("data"), values.pop("cluster")
        values |= {} if cluster is None else {"cluster": cluster_values(cluster)}
        first = ("task", "preset", "parameters", "vocabulary")
        return {name: values.pop(name) for name in first} | data | values

    def rows(self) -> list[tuple[str, str]]:
        """Return names and values in words."""
        values = {name: value for name, value in self.to_dict().items() if name not in ("planned", "cluster")}
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


def plan_devices(run: Resolved[RunSettings[ModelSettings]], cluster: ClusterSettings) -> Plan:
    """Return the plan of a run on devices that need not be here, whose speed is known; its data are not read."""
    settings: RunSettings[ModelSettings] = run.settings
    vocabularies = full_vocabularies(settings)
    if vocabularies is None:
        raise ConfigError(
            f"{settings.model.family}: such models train in one process, so there is nothing to plan for several; "
            f"see regard train --dry-run."
        )
    device, train, load = DEVICES[cluster.device], settings.train, workload(settings, vocabularies)
    plan = Plan(
        task=settings.task,
        preset=settings.model.preset,
        parameters=load.parameters,
        vocabulary=vocabularies.target,
        updates=None if train.depends_on_data else train.steps,
        updates_per_epoch=None,
        epochs=None,
        device=device.name,
        end=_end(train),
        planned=planned_values(run),
    )
    return plan.on(cluster, settings, load, device, given_speed(cluster) or known_speed(settings, load, device))


def given_speed(cluster: ClusterSettings) -> Speed | None:
    """Return the speed of one device that a user gives, if any."""
    return None if cluster.tokens_per_second is None else Speed(cluster.tokens_per_second, "given")


def known_speed(settings: RunSettings[ModelSettings], load: Workload, device: Device) -> Speed:
    """Return the speed of one device, from what an H200 used of its peak in training."""
    assert device.peak is not None, "a device without a data sheet is measured"
    known, is_compiled = utilization(load.kind), settings.machine.compile
    fraction = known.compiled if is_compiled else known.plain
    how = f"{known.what}{', compiled,' if is_compiled else ''} used {100 * fraction:.0f} % of an H200, measured"
    how += "" if device.name == "h200" else f"; not measured on an {device.name}"
    return Speed(fraction * device.peak / load.operations, how)


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
