"""Calls of `regard` that need more than one name of a lower layer: plans, races, transfers and lists."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from regard import registry
from regard.models.base.family import Preset
from regard.models.presets import presets as all_presets
from regard.progress import SILENT, Progress
from regard.runs.planning.plan import Plan, plan_run
from regard.runs.planning.recipes import Recipe, chosen_recipe, resolve_run, shipped
from regard.runs.planning.settings import ClusterSettings
from regard.runs.store.listing import RunSummary, list_runs
from regard.studies.doctor.cluster import plan_for
from regard.studies.race.entrants import Lineup
from regard.studies.race.folder import Race
from regard.studies.race.race import race as run_race
from regard.studies.transfer.folder import Transfer
from regard.studies.transfer.transfer import TransferStudy
from regard.studies.transfer.transfer import transfer as run_transfer
from regard.studies.tune.folder import Tuning
from regard.studies.tune.tune import tune as run_tuning

Recipes = str | Path | Mapping[str, object]
Overrides = Mapping[str, object]


def plan(
    recipe: Recipes,
    overrides: Overrides | None = None,
    *,
    cluster: Mapping[str, object] | None = None,
    progress: Progress = SILENT,
) -> Plan:
    """Return the sizes of a run that `train` would start with the same arguments; nothing is trained.

    `cluster` adds memory, traffic and time on many devices: {"nodes": 16, "gpus": 8, "device": "h200"}. With a device
    other than this one the data are not read, and need not be there.
    """
    if cluster is None:
        return plan_run(resolve_run(chosen_recipe(recipe), overrides or {}), progress)[0]
    return plan_for(chosen_recipe(recipe), overrides or {}, ClusterSettings(**cluster), progress)


def race(
    recipe: str,
    models: Sequence[str] = (),
    *,
    budget: str | None = None,
    vary: str | None = None,
    overrides: Overrides | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress = SILENT,
) -> Race:
    """Train presets, or values of one setting, on the same data and budget, and return the race with its report."""
    lineup = Lineup(recipe, models, vary, overrides or {})
    return run_race(lineup, budget, out=out, overwrite=overwrite, progress=progress)


def transfer(
    data: Mapping[str, object] | None = None,
    *,
    test: Mapping[str, object] | None = None,
    methods: Sequence[str] | None = None,
    sizes: Sequence[str] | None = None,
    seeds: int = 3,
    pretrained: Mapping[str, str | None] | None = None,
    overrides: Overrides | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress = SILENT,
) -> Transfer:
    """Train a classifier with and without pretraining on sets of several sizes, and return the study."""
    chosen = TransferStudy(
        data, test, methods or TransferStudy.methods, sizes, seeds, pretrained or {}, overrides or {}
    )
    return run_transfer(chosen, out=out, overwrite=overwrite, progress=progress)


def tune(
    recipe: Recipes,
    overrides: Overrides | None = None,
    *,
    minutes: float = 30.0,
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress = SILENT,
) -> Tuning:
    """Search better values for the most doubtful settings of a plan, and return the tuning with its recipe."""
    return run_tuning(recipe, overrides, minutes=minutes, out=out, overwrite=overwrite, progress=progress)


def runs(folder: str | Path = "runs") -> list[RunSummary]:
    """Return a summary of every run below a folder."""
    return list_runs(folder)


def tasks() -> list[str]:
    """Return the names of all tasks, those of installed packages included."""
    return registry.task_names()


def presets() -> dict[str, Preset]:
    """Return every preset of a model by its name."""
    return all_presets()


def recipes() -> dict[str, Recipe]:
    """Return every recipe in the package by its name."""
    return shipped()
