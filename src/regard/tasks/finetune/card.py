"""The sections of a fine-tuned model's card: details of its scores, and data."""

from urllib.parse import quote

from regard.escaping import in_markdown
from regard.reporting.markdown import code, table
from regard.tasks.card import CardInput, pretrained, source_of
from regard.tasks.finetune.pictures import draw_confusion, draw_label_bars
from regard.tasks.finetune.records import ExampleReportRecord, HeadScores, describe_mix

SHOWN = 200
"""Maximum characters of a text in the table of errors."""


def score_details(card: CardInput, name: str, scores: HeadScores) -> list[str]:
    """Return the weights of an ELMo's layers, the metrics by label, and the most confident errors of one set."""
    mix = ["", f"Learned weights of the layers: {describe_mix(scores.mix)}."] if scores.mix else []
    return mix + _by_label(card, name, scores) + _errors(name, scores)


def _by_label(card: CardInput, name: str, scores: HeadScores) -> list[str]:
    if not scores.classes:
        return []
    confusion = scores.confusion
    rows = [
        [
            each.label,
            f"{each.count:,}",
            *each.numbers,
            *(f"{count:,}" for count in (confusion[row] if confusion else [])),
        ]
        for row, each in enumerate(scores.classes)
    ]
    predicted = [f"predicted {each.label}" for each in scores.classes] if confusion else []
    header = ["label", "examples", "precision", "recall", "F1", *predicted]
    lines = ["", f"### {in_markdown(name)}, by label", "", *table(header, rows)]
    if confusion:
        plot = draw_confusion(card.path, name, confusion, [each.label for each in scores.classes])
        return [*lines, "", f"![Confusion matrix of {in_markdown(name)}]({quote(plot)})"]
    plot = draw_label_bars(card.path, name, scores.classes)
    return [*lines, "", f"![Precision, recall and F1 of {in_markdown(name)} by label]({quote(plot)})"]


def _errors(name: str, scores: HeadScores) -> list[str]:
    if not scores.errors:
        return []
    has_probabilities = all(each.probability is not None for each in scores.errors)
    rows = [
        [
            " / ".join(map(_short, each.texts)),
            _short(each.label),
            _short(each.predicted),
            *([f"{each.probability:.4f}"] if has_probabilities else []),
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
