"""The checks of the data, and the quick part of them that every training begins with."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from regard.progress import SILENT, Progress
from regard.tasks.checks.alignment import alignment_findings, quick_alignment_findings
from regard.tasks.checks.documents import document_findings, passage_findings
from regard.tasks.checks.running_text import running_text_findings
from regard.tasks.checks.sizes import size_findings
from regard.tasks.checks.splits import split_findings
from regard.tasks.checks.text_sizes import text_size_findings
from regard.tasks.checks.tokenizers import text_findings
from regard.tasks.findings import Finding, Report
from regard.tasks.translate.data import TextTaskData, TranslationData

Look = Callable[[Any], list[Finding]]

OF_A_START = ("rare-pieces", "vocabulary", "parameters")
"""What nobody chooses who goes on with a model that has learned already: its tokenizer, and how large it is."""


@dataclass(frozen=True)
class Check:
    """One kind of check: all of it, and what of it takes no time."""

    name: str
    whole: Look
    quick: Look


RUNNING_TEXT = (
    Check("text", running_text_findings, running_text_findings),
    Check("splits", lambda it: document_findings(it) + passage_findings(it), document_findings),
    Check("sizes", text_size_findings, text_size_findings),
)

CHECKS: dict[str, tuple[Check, ...]] = {
    "language-model": RUNNING_TEXT,
    "masked-language-model": RUNNING_TEXT,
    "translate": (
        Check("text", text_findings, text_findings),
        Check("splits", split_findings, split_findings),
        Check("alignment", alignment_findings, quick_alignment_findings),
        Check("sizes", size_findings, size_findings),
    ),
}
"""By task; others check their examples themselves while they read them."""


def run_checks(
    material: TranslationData | TextTaskData, is_quick: bool = False, progress: Progress = SILENT
) -> list[Finding]:
    """Return what the checks of the data find."""
    found: list[Finding] = []
    checks = CHECKS[material.settings.task]
    with progress.bar("look over", len(checks)) as bar:
        for check in checks:
            found += (check.quick if is_quick else check.whole)(material)
            bar.advance()
    has_start = getattr(material.settings, "init_from", None) is not None
    return [each for each in found if not (has_start and each.name in OF_A_START)]


def preflight(material: TranslationData | TextTaskData, progress: Progress) -> None:
    """Say what the quick checks find that needs attention; nothing when all is well."""
    findings = Report(tuple(run_checks(material, is_quick=True))).of("warning", "problem")
    for finding in findings:
        way_out = f" Remedy: {finding.way_out}." if finding.way_out else ""
        kind = "" if finding.severity == "warning" else f"{finding.severity} in "  # that it warns is said anyway
        progress.warn(f"{kind}{finding.check}: {finding.sentence}{way_out}")
    if findings:
        progress.say("More about this, with examples: regard doctor; preflight=false leaves these checks out.")
