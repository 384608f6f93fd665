"""The beginning of every training: data loaded and checked, then the model built."""

from dataclasses import replace
from typing import Any

from torch import nn

from regard.models.base.settings import ModelSettings
from regard.progress import SILENT, Progress
from regard.tasks.contract import find_task
from regard.tasks.data import Prepared
from regard.tasks.declarations import Context
from regard.tasks.findings import Finding, Report
from regard.tasks.init_from import run_context
from regard.tasks.settings import RunSettings
from regard.training.device.machine import Machine

OF_PRETRAINED = ("rare-tokens", "vocabulary", "parameters")
"""Findings that are left out for pretrained models, whose tokenizer and size cannot be changed."""


def run_checks(
    settings: RunSettings[Any], data: object, is_quick: bool = False, progress: Progress = SILENT
) -> list[Finding]:
    """Return the findings of a task's checks on its data."""
    findings: list[Finding] = []
    checks = find_task(settings.task).checks()
    with progress.bar("check the data", len(checks)) as bar:
        for check in checks:
            findings += (check.quick if is_quick else check.run)(data)
            bar.advance()
    is_pretrained = settings.init_from is not None
    return [each for each in findings if not (is_pretrained and each.name in OF_PRETRAINED)]


def preflight(settings: RunSettings[Any], data: object, progress: Progress) -> None:
    """Report the warnings and problems of the quick checks, unless the progress is silent or settings turn it off."""
    if not settings.preflight or progress is SILENT:
        return
    findings = Report(tuple(run_checks(settings, data, is_quick=True))).of("warning", "problem")
    for finding in findings:
        way_out = f" Remedy: {finding.way_out}." if finding.way_out else ""
        kind = (
            "" if finding.severity == "warning" else f"{finding.severity} in "
        )  # a warning is labeled as one anyway
        progress.warn(f"{kind}{finding.check}: {finding.sentence}{way_out}")
    if findings:
        progress.info("More about this, with examples: regard doctor; preflight=false leaves these checks out.")


def prepare_run(settings: RunSettings[ModelSettings], context: Context, shared: object = None) -> Prepared[Any]:
    """Load and check the data, build the model, and prepare the loop; data that is shared is loaded and checked."""
    task = find_task(settings.task)
    if shared is not None:
        context = replace(context, progress=SILENT)
        data = shared
    else:
        data = task.load_data(settings, context)
        if context.resumed is None:
            preflight(settings, data, context.progress)
    return task.prepare(settings, data, task.build(settings, data, context), context)


def untrained(settings: RunSettings[ModelSettings], prepared: Prepared[Any], machine: Machine) -> nn.Module:
    """Return the model of step 0 once more."""
    return find_task(settings.task).build(settings, prepared.data, run_context(settings, machine)).model
