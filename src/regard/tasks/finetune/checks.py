"""Checks of the examples of a fine-tuning run: enough of them, of each label, and in validation."""

from regard.tasks.findings import Finding, graded, percent, some
from regard.tasks.finetune.data import ExampleSets

FEW, SOME = 50, 500
"""Training examples below which little can be learned, and below which scores depend on the seed."""
FEW_OF_LABEL = 8
"""Training examples of a label below which it is hardly learned."""
FEW_VALID, SOME_VALID = 50, 200
"""Validation examples below which scores are very noisy, and rather noisy."""


def example_findings(data: ExampleSets) -> list[Finding]:
    """Return the findings on the numbers of examples."""
    return [_amount(data), *_rare_labels(data), *label_findings(data), _validation(data)]


def quick_findings(data: ExampleSets) -> list[Finding]:
    """Return the findings on sets that nothing can be learned from, or measured on."""
    return [_amount(data), *label_findings(data)]


def label_findings(data: ExampleSets) -> list[Finding]:
    """Return the finding on a validation set whose examples all have the same label."""
    counts = {label: count for label, count in data.reports["valid"].labels.items() if count}
    if len(data.labels) < 2 or len(counts) != 1:
        return []
    (label, count), *_ = counts.items()
    if count < len(data.valid):  # the others have none, of several that a text may have
        return []
    sentence = (
        f'All {count:,} validation examples have the label "{label}", so a constant '
        f"prediction is correct on all of them."
    )
    return [Finding("sizes", "one-label", "warning", sentence, (), "validate on examples of all labels")]


def _amount(data: ExampleSets) -> Finding:
    count = len(data.train)
    severity = graded(-count, note=1 - SOME, warning=1 - FEW)
    if severity == "ok":
        return Finding("sizes", "examples", "ok", f"{count:,} examples are trained on.", metrics={"examples": count})
    effect = "too few to learn from" if severity == "warning" else "so scores depend on the seed"
    sentence = f"There are only {count:,} training examples, {effect}."
    return Finding("sizes", "examples", severity, sentence, (), "add examples", metrics={"examples": count})


def _rare_labels(data: ExampleSets) -> list[Finding]:
    counts = data.reports["train"].labels
    rare = sorted((counts[label], label) for label in data.labels if counts[label] < FEW_OF_LABEL)
    if not rare:
        return []
    share = sum(count for count, _ in rare) / max(1, counts.total())
    return [
        Finding(
            "sizes",
            "rare-labels",
            "warning" if len(rare) == len(data.labels) else "note",
            f"{len(rare):,} of {len(data.labels):,} labels have fewer than {FEW_OF_LABEL} training examples "
            f"({percent(share, 1)} of all), so they are hardly learned.",
            some(f"{label}: {count}" for count, label in rare),
            "add examples of these labels, or merge them",
        )
    ]


def _validation(data: ExampleSets) -> Finding:
    count = len(data.valid)
    severity = graded(-count, note=1 - SOME_VALID, warning=1 - FEW_VALID)
    if severity == "ok":
        sentence = f"{count:,} examples are used for validation."
        return Finding("sizes", "validation", "ok", sentence, metrics={"examples": count})
    sentence = f"Only {count:,} examples are used for validation: the choice of the best checkpoint is noisy."
    return Finding("sizes", "validation", severity, sentence, (), "validate on more", metrics={"examples": count})
