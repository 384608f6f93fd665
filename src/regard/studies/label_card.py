"""What the card of a model that labels or chooses says differently from a translator's."""

import json
import shlex
from typing import Any

from regard.studies.markdown import code, table
from regard.studies.run import Run

SHOWN = 200
"""Characters of a text that a mistake is shown with."""


def label_use(run: Run) -> list[str]:
    """Return how to use a classifier."""
    is_pair = run.record["data"]["texts"] == 2
    words = '"your text" "and another"' if is_pair else '"your text"'
    given = '("your text", "and another")' if is_pair else '"your text"'
    return _use(run, f"classify {shlex.quote(str(run.path))} {words}", "classifier", f"{given}).label")


def choice_use(run: Run) -> list[str]:
    """Return how to use a model that chooses."""
    words = '"a context" "one way to go on" "another"'
    return _use(
        run,
        f"choose {shlex.quote(str(run.path))} {words}",
        "chooser",
        '"a context", ["one way to go on", "another"]).choice',
    )


def _use(run: Run, command: str, name: str, call: str) -> list[str]:
    path = json.dumps(str(run.path), ensure_ascii=False)
    return [
        "## Use it",
        "",
        "```sh",
        f"regard {command}",
        "```",
        "",
        "```python",
        "import regard",
        "",
        f"{name} = regard.load({path})",
        f"{name}({call}",
        "```",
    ]


def label_scores(run: Run) -> list[str]:
    """Return the figures on every set, each label's on the first, and the mistakes the model was surest of."""
    scores = run.record.get("scores") or {}
    if not scores:
        again = shlex.quote(str(run.path))
        return ["## Scores", "", f"None yet; `regard evaluate {again}` measures them."]
    rows = [
        [
            name,
            f"{found['examples']:,}",
            f"{found['loss']:.4f}",
            f"{found['accuracy']:.4f}",
            f"{found['macro_f1']:.4f}" if "macro_f1" in found else "",
            f"{found['chance']:.4f}",
            code(found["test_set"][:12]),
        ]
        for name, found in scores.items()
    ]
    header = ["set", "examples", "loss", "accuracy", "macro F1", "by chance", "examples as read"]
    words = (
        "By chance is what always saying the commonest label would get right"
        if any("classes" in found for found in scores.values())
        else "By chance is what taking any of the choices would get right"
    )
    lines = ["## Scores", "", *table(header, rows), "", f"{words}; the loss is in nats an example."]
    for name, found in scores.items():
        lines += _by_label(name, found) + _mistakes(name, found)
    return lines


def _by_label(name: str, found: dict[str, Any]) -> list[str]:
    if "classes" not in found:
        return []
    said = [each["label"] for each in found["classes"]]
    rows = [
        [
            each["label"],
            f"{each['count']:,}",
            *(f"{each[figure]:.4f}" for figure in ("precision", "recall", "f1")),
            *(f"{count:,}" for count in confused),
        ]
        for each, confused in zip(found["classes"], found["confusion"], strict=True)
    ]
    header = ["label", "examples", "precision", "recall", "F1", *(f"called {label}" for label in said)]
    return ["", f"### {name}, by label", "", *table(header, rows)]


def _mistakes(name: str, found: dict[str, Any]) -> list[str]:
    if not found["mistakes"]:
        return []
    rows = [
        [
            " / ".join(map(_short, each["texts"])),
            _short(each["label"]),
            _short(each["said"]),
            f"{each['probability']:.4f}",
        ]
        for each in found["mistakes"]
    ]
    return ["", f"### {name}, its surest mistakes", "", *table(["text", "right", "said", "probability"], rows)]


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def label_data(run: Run) -> list[str]:
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
                f"{counts['cut']:,}",
            ]
        )
    header = ["set", "from", "examples read", "kept", "dropped", "answers", "with two answers", "cut"]
    start = facts.get("start")
    return [
        "## Data",
        "",
        *table(header, rows),
        *(["", f"Began with {code(start['path'])}, SHA-256 {code(start['sha256'] or 'unknown')}."] if start else []),
    ]
