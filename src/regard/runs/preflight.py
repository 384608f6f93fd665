"""The checks of the data, and the quick part of them that every training begins with."""

from typing import Any

from regard.progress import SILENT, Progress
from regard.tasks.contract import find_task
from regard.tasks.data import Prepared
from regard.tasks.findings import Finding, Report
from regard.tasks.settings import RunSettings

OF_PRETRAINED = ("rare-tokens", "vocabulary", "parameters")
"""Findings that are left out for pretrained models, whose tokenizer and size cannot be changed."""


def run_checks(
    settings: RunSettings[Any], prepared: Prepared[Any], is_quick: bool = False, progress: Progress = SILENT
) -> list[Finding]:
    """Return the findings of a task's checks on its prepared data."""
    findings: list[Finding] = []
    checks = find_task(settings.task).checks()
    with progress.bar("check the data", len(checks)) as bar:
        for check in checks:
            findings += (check.quick if is_quick else check.run)(prepared.data)
            bar.advance()
    is_pretrained = settings.init_from is not None
    return [each for each in findings if not (is_pretrained and each.name in OF_PRETRAINED)]


def preflight(settings: RunSettings[Any], prepared: Prepared[Any], progress: Progress) -> None:
    """Report the warnings and problems of the quick checks, unless the progress is silent or settings turn it off."""
    if not settings.preflight or progress is SILENT:
        return
    findings = Report(tuple(run_checks(settings, prepared, is_quick=True))).of("warning", "problem")
    for finding in findings:
        way_out = f" Remedy: {finding.way_out}." if finding.way_out else ""
        kind = (
            "" if finding.severity == "warning" else f"{finding.severity} in "
        )  # a warning is labeled as one anyway
        progress.warn(f"{kind}{finding.check}: {finding.sentence}{way_out}")
    if findings:
        progress.info("More about this, with examples: regard doctor; preflight=false leaves these checks out.")
