"""What the card of a masked language model says differently from others."""

import json
import shlex
from typing import Any

from regard.runs.reports.markdown import began, code, fenced, table
from regard.runs.store.folder import Run
from regard.tasks.language_model.card import text_rows


def masked_use(run: Run) -> list[str]:
    """Return how to use a masked language model."""
    path = str(run.path)
    return [
        "## Use it",
        "",
        *fenced(
            "sh",
            f'regard fill {shlex.quote(path)} "Your text with a [MASK] in it."',
            f'regard embed {shlex.quote(path)} "your text"',
        ),
        "",
        *fenced(
            "python",
            "import regard",
            "",
            f"encoder = regard.load({json.dumps(path, ensure_ascii=False)})",
            'encoder.fill("Your text with a [MASK] in it.").filled',
        ),
    ]


def masked_scores(run: Run) -> list[str]:
    """Return the figures on every set."""
    scores = run.record.get("scores") or {}
    if not scores:
        return ["## Scores", "", "None yet."]
    rows = [
        [
            name,
            f"{found['masked']:,}",
            f"{found['mlm_loss']:.4f}",
            f"{found['pseudo_perplexity']:.2f}",
            f"{found['masked_accuracy']:.4f}",
            f"{found['majority_baseline']:.4f}",
            shown(found["next_sentence_accuracy"]),
            f"{found['pairs']:,}",
            code(found["test_set"][:12]),
        ]
        for name, found in scores.items()
    ]
    header = [
        "set",
        "masked tokens",
        "loss",
        "pseudo-perplexity",
        "accuracy",
        "majority baseline",
        "next sentence",
        "pairs",
        "text",
    ]
    rule = next(iter(scores.values()))["rule"]
    words = (
        f"Masks and pairs are the same at every evaluation: {rule}. The loss is in nats a masked token, the "
        "pseudo-perplexity its exponential; the majority baseline is the fraction of the most frequent of these "
        "tokens. Figures can be compared between models with the same tokenizer only."
    )
    return ["## Scores", "", *table(header, rows), "", words]


def shown(share: Any) -> str:
    """Return a figure, or a dash where there is none."""
    return "-" if share is None else f"{share:.4f}"


def masked_data(run: Run) -> list[str]:
    """Return what the text was."""
    record = run.record
    facts, settings = record["data"], record["settings"]
    rule = "a line each" if settings["data"]["sentences"] == "lines" else "by full stops and their like"
    return [
        "## Data",
        "",
        *table(["set", "from", "documents", "tokens", "bytes", "words"], text_rows(record)),
        "",
        f"Sentences are told apart {rule} (tokens include a mark behind each); sequences have up to "
        f"{facts['window']:,} tokens. Hash of the text as it was read: {code(facts['hash'])}.",
        *began(facts),
    ]
