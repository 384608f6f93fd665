"""The plan of a run on many devices, the speed of one measured here where it is of this machine."""

import os
from collections.abc import Mapping

import torch

from regard.config.overrides import nested
from regard.errors import ConfigError
from regard.progress import SILENT, Progress
from regard.runs.planning.cluster import Speed
from regard.runs.planning.devices import this_device
from regard.runs.planning.plan import Plan, given_speed, plan_devices, plan_run
from regard.runs.planning.recipes import Recipe, resolve_run, without_data
from regard.runs.planning.settings import ClusterSettings
from regard.runs.planning.workload import workload
from regard.studies.doctor.speed import QUICK_SECONDS, measure_pace
from regard.studies.doctor.trial import TrialSetup
from regard.tasks.contract import find_task
from regard.training.device.machine import prepare_machine


def plan_for(
    recipe: Recipe, overrides: Mapping[str, object], cluster: ClusterSettings, progress: Progress = SILENT
) -> Plan:
    """Return the plan of a run on a cluster; of this machine's devices it measures one, on the data of the run."""
    if cluster.device != "this":
        return plan_devices(resolve_run(*without_data(recipe, nested(overrides))), cluster)
    resolved = resolve_run(recipe, overrides)
    settings = resolved.settings
    if not find_task(settings.task).has_trials:
        raise ConfigError(
            f"{settings.task}: such models train in one process, so there is nothing to plan for several; see regard "
            f"train --dry-run."
        )
    if settings.machine.device in ("auto", "cpu") and settings.machine.threads is None:
        threads = max(1, (os.cpu_count() or 1) // cluster.gpus)
        settings = settings.model_copy(update={"machine": settings.machine.model_copy(update={"threads": threads})})
    plan, prepared = plan_run(resolved, progress)
    machine = prepare_machine(settings.machine)
    load = workload(settings, prepared.bundle.vocabularies)
    if (speed := given_speed(cluster)) is None:
        pace = measure_pace(TrialSetup(settings, prepared, machine), progress, QUICK_SECONDS)
        threads = torch.get_num_threads()
        speed = Speed(pace.tokens / pace.seconds, f"measured here with {threads} thread{'s' * (threads != 1)}")
    return plan.on(cluster, settings, load, this_device(machine, cluster.gpus), speed)
