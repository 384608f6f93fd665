"""The whole examination of a run before it begins."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from regard.progress import SILENT, Progress
from regard.studies.doctor.findings import Finding, Report
from regard.studies.doctor.machine import memory_findings
from regard.studies.doctor.preflight import look_over
from regard.studies.doctor.rate import rate_findings
from regard.studies.doctor.speed import speed_findings
from regard.studies.doctor.trial import Bench
from regard.studies.recipes import Recipe, check_task, find_recipe, resolve_run
from regard.studies.translation import gather, make_ready
from regard.training import prepare_machine

TRIALS: tuple[Callable[[Bench, Progress], list[Finding]], ...] = (memory_findings, speed_findings)
"""What is tried out on the machine, on copies of the model."""


def doctor(
    recipe: str | Path | Mapping[str, Any],
    overrides: Mapping[str, Any] | None = None,
    *,
    find_rate: bool = False,
    is_quick: bool = False,
    progress: Progress = SILENT,
) -> Report:
    """Look a run over before it begins and return what was found; nothing is written and nothing learned.

    `recipe` and `overrides` are those of `train`. `find_rate` adds a learning-rate range test; `is_quick` leaves out
    everything that learns from batches.
    """
    if isinstance(recipe, Mapping):
        found = Recipe(str(recipe.get("task", "run")), "the call", recipe)
    else:
        found = find_recipe(str(recipe))
    settings = resolve_run(found, overrides or {}).settings
    check_task(settings, "doctor")
    machine = prepare_machine(settings.machine)
    material = gather(settings, machine, progress)
    findings = look_over(material, is_quick, progress)
    bench = Bench(material, make_ready(material, machine), machine)
    for trial in () if is_quick else TRIALS:
        findings += trial(bench, progress)
    if find_rate:
        findings += rate_findings(bench, progress)
    return Report(tuple(findings))
