"""The views that can show the model of a run, known from its record before anything is loaded."""

from regard.errors import RegardError
from regard.models.families import family
from regard.runs.run import Run
from regard.tasks.contract import find_task

BY_KIND = {
    "seq2seq": ["tree", "merges"],
    "conditional-masked-lm": ["tree", "merges"],
    "causal-lm": ["tree", "generate", "lens", "merges"],
    "encoder": ["words", "occurrences", "lens", "merges"],
    "bidirectional-lm": ["gates", "occurrences"],
    "word-vectors": ["map"],
}
"""The views of each kind of model without a head."""
WITH_ATTENTION = ["attention", "intervene"]
WITH_HEADS = ["attention", "intervene", "steps", "rank"]
"""The views of models whose attention has several heads."""
RECURRENT = ("recurrent", "recurrent-lm")
"""Families whose gates are shown over time."""


def views_of(run: Run) -> list[str]:
    """Return the views that can show the model of a run; none before its first checkpoint."""
    try:
        record = run.record
        if not run.has_checkpoint:
            return []
        plain = record.settings.plain
        name, settings = record.settings.model.family, record.settings.model.model_dump()
        kind = family(name).kind
        task_head = find_task(record.task).files.heads
        views = ["words", "merges"] if task_head else list(BY_KIND.get(kind, []))
        if "heads" in settings:
            views += WITH_HEADS
        elif not task_head and (settings.get("alignment", "none") != "none" or "kernel" in settings):
            views += WITH_ATTENTION
        if (name in RECURRENT and not task_head) or (kind == "bidirectional-lm" and task_head):
            views.append("gates")
        has_merges = plain.get("text", {}).get("kind") == "bpe"
        return [each for each in views if each != "merges" or has_merges]
    except (RegardError, OSError, ValueError):
        return []
