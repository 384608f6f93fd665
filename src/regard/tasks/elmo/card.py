"""What the card of an ELMo says differently from others."""

import json
import shlex

from regard.runs.reports.markdown import began, code, fenced, table
from regard.runs.store.folder import Run
from regard.tasks.language_model.card import text_rows


def elmo_use(run: Run) -> list[str]:
    """Return how to use an ELMo."""
    path = str(run.path)
    words = shlex.quote(path)
    return [
        "## Use it",
        "",
        *fenced(
            "sh",
            f'regard similar {words} "She sat on the bank of the river." "The bank lent her money." --word bank',
            f"regard train classify --data reviews.csv --init-from {words}",
        ),
        "",
        *fenced(
            "python",
            "import regard",
            "",
            f"elmo = regard.load({json.dumps(path, ensure_ascii=False)})",
            'elmo.tokens("The bank lent her money.").vectors',
        ),
    ]


def elmo_scores(run: Run) -> list[str]:
    """Return the figures on every set."""
    scores = run.record.get("scores") or {}
    if not scores:
        return ["## Scores", "", "None yet."]
    rows = [
        [
            name,
            f"{found['words']:,}",
            f"{found['oov_fraction']:.2%}".replace("%", " %"),
            *(f"{found[f'{side}_loss']:.4f}" for side in ("forward", "backward")),
            *(f"{found[f'{side}_perplexity']:.2f}" for side in ("forward", "backward")),
            code(found["test_set"][:12]),
        ]
        for name, found in scores.items()
    ]
    header = [
        "set",
        "words",
        "unknown",
        "loss forward",
        "backward",
        "perplexity forward",
        "backward",
        "text",
    ]
    words = (
        "Forward is each word from those before it, backward from those behind it, in nats a word; a word that "
        "cannot be said counts as unknown. Figures can be compared between models that say the same words only."
    )
    return ["## Scores", "", *table(header, rows), "", words]


def elmo_data(run: Run) -> list[str]:
    """Return what the text was."""
    facts = run.record["data"]
    return [
        "## Data",
        "",
        *table(["set", "from", "documents", "characters", "bytes", "words"], text_rows(run.record)),
        "",
        f"Words are read byte by byte (a mark before each is a character too), in windows of about "
        f"{facts['window']:,} words; {facts['vocabulary']:,} of them can be said. Hash of the text as it was read: "
        f"{code(facts['hash'])}.",
        *began(facts),
    ]
