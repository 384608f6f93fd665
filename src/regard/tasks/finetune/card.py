"""What the card of a model that was fine-tuned says differently from a translator's."""

import json
import shlex
from typing import Any
from urllib.parse import quote

from regard.escaping import in_markdown
from regard.runs.reports.markdown import began, code, fenced, table
from regard.runs.store.folder import Run
from regard.tasks.finetune.pictures import draw_confusion

SHOWN = 200
"""Characters of a text that a mistake is shown with."""

USES = {
    "answer": ('"a question?" "The text that it is about."', "answerer", '"a question?", "The text.").text'),
    "choose": (
        '"a context" "one way to go on" "another"',
        "chooser",
        '"a context", ["one way to go on", "another"]).choice',
    ),
    "classify": ('"your text"', "classifier", '"your text").label'),
    "regress": ('"your text"', "regressor", '"your text").number'),
    "tag": ('"Your text."', "tagger", '"Your text.").spans'),
}
"""By task: the words of the command line, the name of the pipeline, and how it is called."""

FIGURES = {
    "f1": "F1",
    "exact_match": "exact match",
    "precision": "precision",
    "recall": "recall",
    "spearman": "Spearman",
    "pearson": "Pearson",
    "mean_absolute_error": "mean error",
    "accuracy": "accuracy",
    "macro_f1": "macro F1",
    "micro_f1": "micro F1",
    "matthews": "Matthews",
    "answerable_f1": "F1 where there is an answer",
    "unanswerable_exact_match": "silent where there is none",
    "threshold": "threshold",
    "majority_baseline": "majority baseline",
}
"""Figures in the order they are shown, and what people call them."""


def tuning_use(run: Run) -> list[str]:
    """Return how to use a model."""
    task = run.record["task"]
    words, name, call = USES[task]
    if run.record["data"]["texts"] == 2:
        words, call = f'{words} "and another"', call.replace('"your text")', '("your text", "and another"))')
    path = json.dumps(str(run.path), ensure_ascii=False)
    return [
        "## Use it",
        "",
        *fenced(
            "sh",
            f"regard {task} {shlex.quote(str(run.path))} {words}",
        ),
        "",
        *fenced(
            "python",
            "import regard",
            "",
            f"{name} = regard.load({path})",
            f"{name}({call}",
        ),
    ]


def tuning_scores(run: Run) -> list[str]:
    """Return the figures on every set with their intervals, by label, and the mistakes the model was surest of."""
    scores = run.record.get("scores") or {}
    if not scores:
        again = shlex.quote(str(run.path))
        return ["## Scores", "", f"None yet; {code(f'regard evaluate {again}')} measures them."]
    names = [name for name in FIGURES if any(name in found for found in scores.values())]
    rows = [
        [
            name,
            f"{found['examples']:,}",
            f"{found['loss']:.4f}",
            *(f"{found[each]:.4f}" if each in found else "" for each in names),
            code(found["test_set"]["sources"][:12]),
        ]
        for name, found in scores.items()
    ]
    header = ["set", "examples", "loss", *(FIGURES[name] for name in names), "texts"]
    lines = ["## Scores", "", *table(header, rows), "", *_intervals(scores), *_words(scores)]
    mix = next(iter(scores.values())).get("mix")
    if mix:
        lines += ["", f"Learned weights of the layers for this task: {mix_words(mix)}."]
    for name, found in scores.items():
        lines += _by_label(run, name, found) + _mistakes(name, found)
    return lines


def mix_words(mix: dict[str, float]) -> str:
    """Say how much each layer counts, and by how much all are scaled."""
    return ", ".join(f"{name} {value:.3f}" for name, value in mix.items())


def _intervals(scores: dict[str, Any]) -> list[str]:
    rows = [
        [name, FIGURES.get(each, each.replace("_", " ")), f"{found[each]:.4f}", f"{low:.4f} to {high:.4f}"]
        for name, found in scores.items()
        for each, (low, high) in found.get("intervals", {}).items()
    ]
    return [*table(["set", "figure", "value", "95 % interval"], rows), ""] if rows else []


def _words(scores: dict[str, Any]) -> list[str]:
    first = next(iter(scores.values()))
    said = "Intervals are by bootstrap over the set; each score has a passport in `scores/`, with all answers. "
    if "confusion" in first:
        said += "The majority baseline is what the commonest label alone gets right; the loss is in nats an example."
    elif "majority_baseline" in first:
        said += "The majority baseline is what any of the choices would get right; the loss is in nats an example."
    elif "spearman" in first:
        said += "The loss is the mean squared error in units of the training set's spread."
    return [said.strip()]


def _by_label(run: Run, name: str, found: dict[str, Any]) -> list[str]:
    if "classes" not in found:
        return []
    confusion = found.get("confusion")
    rows = [
        [
            each["label"],
            f"{each['count']:,}",
            *(f"{each[figure]:.4f}" for figure in ("precision", "recall", "f1")),
            *(f"{count:,}" for count in (confusion[row] if confusion else [])),
        ]
        for row, each in enumerate(found["classes"])
    ]
    said = [f"called {each['label']}" for each in found["classes"]] if confusion else []
    lines = [
        "",
        f"### {in_markdown(name)}, by label",
        "",
        *table(["label", "examples", "precision", "recall", "F1", *said], rows),
    ]
    if confusion:
        picture = draw_confusion(run.path, name, confusion, [each["label"] for each in found["classes"]])
        lines += ["", f"![who is taken for whom on {in_markdown(name)}]({quote(picture)})"]
    return lines


def _mistakes(name: str, found: dict[str, Any]) -> list[str]:
    if not found["mistakes"]:
        return []
    is_sure = all(each["probability"] is not None for each in found["mistakes"])
    rows = [
        [
            " / ".join(map(_short, each["texts"])),
            _short(each["label"]),
            _short(each["said"]),
            *([f"{each['probability']:.4f}"] if is_sure else []),
        ]
        for each in found["mistakes"]
    ]
    title = "its surest mistakes" if is_sure else "its largest errors"
    header = ["text", "right", "said", *(["probability"] if is_sure else [])]
    return ["", f"### {in_markdown(name)}, {title}", "", *table(header, rows)]


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def tuning_data(run: Run) -> list[str]:
    """Return what the examples were, and what was odd about them."""
    record = run.record
    facts, places = record["data"], record["settings"]["data"]
    rows = []
    for name, counts in facts.items():
        if not isinstance(counts, dict) or "kept" not in counts:
            continue
        place = places["test"].get(name.removeprefix("test ")) if name.startswith("test ") else places.get(name)
        dropped = ", ".join(f"{count:,} {reason}" for reason, count in counts["dropped"].items()) or "none"
        labels = ", ".join(f"{label} {count:,}" for label, count in sorted(counts["labels"].items()))
        rows.append(
            [
                name,
                code(place["path"]) if place else "set apart from train",
                f"{counts['read']:,}",
                f"{counts['kept']:,}",
                dropped,
                labels,
                f"{counts['contradictory']:,}",
                f"{counts.get('repeated', 0):,}",
                f"{counts['cut']:,}",
            ]
        )
    header = ["set", "from", "examples read", "kept", "dropped", "answers", "with two answers", "again", "too long"]
    beside = facts.get("extra_vectors")
    return [
        "## Data",
        "",
        *table(header, rows),
        *began(facts),
        *(["", f"Beside it, vectors of {beside['words']:,} words of {code(beside['path'])}."] if beside else []),
    ]
