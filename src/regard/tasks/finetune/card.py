"""The sections of a fine-tuned model's card on scores and data."""

from urllib.parse import quote

from regard.escaping import in_markdown
from regard.reporting.markdown import code, table
from regard.tasks.card import CardInput, no_scores, pretrained, source_of
from regard.tasks.finetune.data import AnyHeadTask
from regard.tasks.finetune.pictures import draw_confusion
from regard.tasks.finetune.predictions import describe_mix
from regard.tasks.finetune.records import ExampleReportRecord, HeadScores

SHOWN = 200
"""Maximum characters of a text in the table of errors."""

LABELS = {
    "precision": "precision",
    "recall": "recall",
    "mean_absolute_error": "mean absolute error",
    "micro_f1": "micro F1",
    "answerable_f1": "F1 of answerable questions",
    "unanswerable_exact_match": "exact match of unanswerable questions",
    "threshold": "threshold",
    "majority_baseline": "majority baseline",
}
"""Labels of further metrics, shown after those of the task."""


def scores_section(task: AnyHeadTask, card: CardInput) -> list[str]:
    """Return the metrics on every set with their intervals, by label, and the most confident errors."""
    scores = {name: HeadScores.model_validate(each) for name, each in card.record.scores.items()}
    if not scores:
        return no_scores(card.path)
    labels = {metric.key: metric.label for metric in task.metrics} | LABELS
    names = [name for name in labels if any(each.metric(name) is not None for each in scores.values())]
    rows = [
        [
            name,
            f"{each.examples:,}",
            f"{each.loss:.4f}",
            *(_number(each.metric(key)) for key in names),
            code(each.test_set.sources[:12]),
        ]
        for name, each in scores.items()
    ]
    header = ["set", "examples", "loss", *(labels[name] for name in names), "texts"]
    lines = ["## Scores", "", *table(header, rows), "", *_intervals(scores, labels), _note(scores)]
    mix = next(iter(scores.values())).mix
    if mix:
        lines += ["", f"Learned weights of the layers for this task: {describe_mix(mix)}."]
    for name, each in scores.items():
        lines += _by_label(card, name, each) + _errors(name, each)
    return lines


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _intervals(scores: dict[str, HeadScores], labels: dict[str, str]) -> list[str]:
    rows = [
        [name, labels.get(key, key.replace("_", " ")), _number(each.metric(key)), f"{low:.4f} to {high:.4f}"]
        for name, each in scores.items()
        for key, (low, high) in each.intervals.items()
    ]
    return [*table(["set", "metric", "value", "95 % interval"], rows), ""] if rows else []


def _note(scores: dict[str, HeadScores]) -> str:
    first = next(iter(scores.values()))
    note = "Intervals are by bootstrap over the set; each score has a passport in `scores/`, with all predictions. "
    if first.confusion:
        return (
            note
            + "The majority baseline is the accuracy of the most frequent label; the loss is in nats per example."
        )
    if first.majority_baseline is not None:
        return note + "The majority baseline is the accuracy of guessing; the loss is in nats per example."
    if first.spearman is not None:
        return note + "The loss is the mean squared error in units of the training set's standard deviation."
    return note.rstrip()


def _by_label(card: CardInput, name: str, scores: HeadScores) -> list[str]:
    if not scores.classes:
        return []
    confusion = scores.confusion
    rows = [
        [
            each.label,
            f"{each.count:,}",
            *(f"{value:.4f}" for value in (each.precision, each.recall, each.f1)),
            *(f"{count:,}" for count in (confusion[row] if confusion else [])),
        ]
        for row, each in enumerate(scores.classes)
    ]
    predicted = [f"predicted {each.label}" for each in scores.classes] if confusion else []
    lines = [
        "",
        f"### {in_markdown(name)}, by label",
        "",
        *table(["label", "examples", "precision", "recall", "F1", *predicted], rows),
    ]
    if confusion:
        plot = draw_confusion(card.path, name, confusion, [each.label for each in scores.classes])
        lines += ["", f"![Confusion matrix of {in_markdown(name)}]({quote(plot)})"]
    return lines


def _errors(name: str, scores: HeadScores) -> list[str]:
    if not scores.errors:
        return []
    has_probabilities = all(each.probability is not None for each in scores.errors)
    rows = [
        [
            " / ".join(map(_short, each.texts)),
            _short(each.label),
            _short(each.predicted),
            *([_number(each.probability)] if has_probabilities else []),
        ]
        for each in scores.errors
    ]
    title = "most confident errors" if has_probabilities else "largest errors"
    header = ["text", "true", "predicted", *(["probability"] if has_probabilities else [])]
    return ["", f"### {in_markdown(name)}, {title}", "", *table(header, rows)]


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def data_section(card: CardInput) -> list[str]:
    """Return the source of every set, its counts, and how many of its examples are suspicious."""
    report = card.record.report
    assert isinstance(report, ExampleReportRecord)
    rows = []
    for name, counts in report.sets.items():
        dropped = ", ".join(f"{count:,} {reason}" for reason, count in counts.dropped.items()) or "none"
        labels = ", ".join(f"{label} {count:,}" for label, count in sorted(counts.labels.items()))
        rows.append(
            [
                name,
                source_of(card.record.settings.data, name),
                f"{counts.read:,}",
                f"{counts.kept:,}",
                dropped,
                labels,
                f"{counts.contradictory:,}",
                f"{counts.duplicates:,}",
                f"{counts.truncated:,}",
            ]
        )
    header = [
        "set",
        "from",
        "examples read",
        "kept",
        "dropped",
        "labels",
        "contradictory",
        "duplicates",
        "truncated",
    ]
    extra = report.extra_vectors
    return [
        "## Data",
        "",
        *table(header, rows),
        *pretrained(report),
        *(["", f"Extra word vectors of {extra.words:,} words from {code(extra.path)}."] if extra else []),
    ]
