"""The checks of running text before training."""

from collections.abc import Sequence

from regard.tasks.declarations import Check


def text_checks() -> Sequence[Check]:
    """Return the checks of language models and masked language models."""
    from regard.tasks.checks.documents import document_findings, passage_findings
    from regard.tasks.checks.running_text import running_text_findings
    from regard.tasks.checks.text_sizes import text_size_findings

    return (
        Check("text", running_text_findings, running_text_findings),
        Check("splits", lambda data: document_findings(data) + passage_findings(data), document_findings),
        Check("sizes", text_size_findings, text_size_findings),
    )
