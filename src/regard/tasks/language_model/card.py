"""What the card of a language model says differently from a translator's."""

import json
import shlex
from typing import Any

from regard.runs.reports.markdown import began, code, codes, fenced, table
from regard.runs.store.folder import Run


def text_use(run: Run) -> list[str]:
    """Return how to use a language model."""
    path = str(run.path)
    return [
        "## Use it",
        "",
        *fenced(
            "sh",
            f'regard generate {shlex.quote(path)} "Once upon a time"',
        ),
        "",
        *fenced(
            "python",
            "import regard",
            "",
            f"generator = regard.load({json.dumps(path, ensure_ascii=False)})",
            'generator("Once upon a time").text',
        ),
    ]


def text_scores(record: dict[str, Any]) -> list[str]:
    """Return the figures on every set."""
    scores = record.get("scores") or {}
    if not scores:
        return ["## Scores", "", "None yet."]
    rows = [
        [
            name,
            f"{found['tokens']:,}",
            f"{found['loss']:.4f}",
            f"{found['perplexity']:.2f}",
            f"{found['bits_per_byte']:.4f}",
            f"{found['word_perplexity']:.2f}",
            found["scores"][0]["signature"],
            code(found["test_set"][:12]),
        ]
        for name, found in scores.items()
    ]
    header = ["set", "tokens", "loss", "perplexity", "bits per byte", "word perplexity", "read in", "text"]
    words = (
        "The loss is in nats a token. Bits per byte and the perplexity of a word do not depend on the tokenizer; "
        "perplexities of a token can be compared between models with the same one only."
    )
    return ["## Scores", "", *table(header, rows), "", words]


def text_rows(record: dict[str, Any]) -> list[list[str]]:
    """Return where each set comes from, and how much there is of it."""
    facts, places = record["data"], record["settings"]["data"]
    rows = []
    for role, counts in facts.items():
        if not isinstance(counts, dict) or "documents" not in counts:
            continue
        place = places["test"].get(role.removeprefix("test ")) if role.startswith("test ") else places.get(role)
        origin = codes(place["paths"]) if place else "set apart from train"
        rows.append([role, origin, *(f"{counts[name]:,}" for name in ("documents", "tokens", "bytes", "words"))])
    return rows


def text_data(record: dict[str, Any]) -> list[str]:
    """Return what the text was."""
    facts = record["data"]
    return [
        "## Data",
        "",
        *table(["set", "from", "documents", "tokens", "bytes", "words"], text_rows(record)),
        "",
        f"Read in windows of {facts['window']:,} tokens; hash of the text as it was read: {code(facts['hash'])}.",
        *began(facts),
    ]
