"""The checks of running text before training."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from regard.tasks.declarations import Check
from regard.tasks.findings import Finding

if TYPE_CHECKING:
    from regard.tasks.data import TextTaskData


def text_checks(sizes: "Callable[[TextTaskData], list[Finding]]") -> Sequence[Check]:
    """Return the checks of language models and masked language models; `sizes` is the task's own of sizes."""
    from regard.tasks.checks.documents import document_findings, passage_findings
    from regard.tasks.checks.running_text import running_text_findings

    return (
        Check("text", running_text_findings, running_text_findings),
        Check("splits", lambda data: document_findings(data) + passage_findings(data), document_findings),
        Check("sizes", sizes, sizes),
    )
