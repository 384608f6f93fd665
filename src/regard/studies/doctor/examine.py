"""The doctor: checks of a run's data, and trials of its training loop on this machine, before it starts."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from regard.config.resolve import Resolved
from regard.errors import ConfigError
from regard.progress import SILENT, Bar, Progress
from regard.runs.planning.plan import Plan, plan_run
from regard.runs.planning.recipes import chosen_recipe, resolve_run
from regard.runs.preflight import preflight, run_checks
from regard.studies.doctor.lr_finder import rate_findings
from regard.studies.doctor.machine import memory_findings
from regard.studies.doctor.speed import speed_findings, training_time
from regard.studies.doctor.trial import TrialSetup
from regard.tasks.contract import find_task
from regard.tasks.findings import Finding, Report
from regard.tasks.init_from import run_context
from regard.training.device.machine import prepare_machine

TRIALS: tuple[Callable[[TrialSetup, Progress], list[Finding]], ...] = (memory_findings, speed_findings)
"""Trials on this machine, on copies of the model."""


class WarningListener(Progress):
    """Passes messages and bars through; warnings become findings."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.findings: list[Finding] = []

    def info(self, message: str) -> None:
        """Pass a message through."""
        self.progress.info(message)

    def warn(self, message: str) -> None:
        """Keep a warning as a finding."""
        self.findings.append(Finding("examples", "suspicious", "warning", message))

    @contextmanager
    def bar(self, title: str, total: int | None = None, done: int = 0) -> Iterator[Bar]:
        """Pass a bar through."""
        with self.progress.bar(title, total, done) as bar:
            yield bar


def dry_run(resolved: Resolved[Any], progress: Progress = SILENT) -> Plan:
    """Return the plan of a run, its data checked and the time of its training estimated; no run is written."""
    settings = resolved.settings
    plan, prepared = plan_run(resolved, progress)
    preflight(settings, prepared.data, progress)
    if not find_task(settings.task).has_trials:
        return plan
    setup = TrialSetup(settings, prepared, prepare_machine(settings.machine))
    return plan.measured(*training_time(setup, progress))


def doctor(
    recipe: str | Path | Mapping[str, Any],
    overrides: Mapping[str, Any] | None = None,
    *,
    lr_finder: bool = False,
    quick: bool = False,
    progress: Progress = SILENT,
) -> Report:
    """Check a run before it starts and return the findings; nothing is written or trained.

    `recipe` and `overrides` are those of `train`. `lr_finder` adds a learning-rate range test; `quick` leaves out
    all trials and computes the quick form of each check.
    """
    settings = resolve_run(chosen_recipe(recipe), overrides or {}).settings
    task = find_task(settings.task)
    if lr_finder and not task.has_trials:
        raise ConfigError(
            f"--lr-finder: {task.wording.plural} have their own trainer, without a learning-rate range test; leave "
            f"it out, or set train.learning_rate."
        )
    listener, machine = WarningListener(progress), prepare_machine(settings.machine)
    context = run_context(settings, machine, listener)
    data = task.load_data(settings, context)
    checked = run_checks(settings, data, quick and task.has_trials, progress)
    prepared = task.prepare(settings, data, task.build(settings, data, context), context)
    setup, findings = TrialSetup(settings, prepared, machine), listener.findings + checked
    for trial in () if quick or not task.has_trials else TRIALS:
        findings += trial(setup, progress)
    if lr_finder:
        findings += rate_findings(setup, progress)
    return Report(tuple(findings))
