"""What the card of word vectors says differently from a translator's."""

import json
import shlex
from pathlib import Path

from regard.runs.reports.markdown import began, code, codes, fenced, table
from regard.runs.store.folder import Run
from regard.tasks.word_vectors.evaluate import analogy_rows, rating_rows


def vectors_use(run: Run) -> list[str]:
    """Return how to use word vectors."""
    path = str(run.path)
    return [
        "## Use it",
        "",
        *fenced(
            "sh",
            f"regard vectors neighbors {shlex.quote(path)} WORD",
            f"regard convert {shlex.quote(path)} --to word2vec",
        ),
        "",
        *fenced(
            "python",
            "import regard",
            "",
            f"vectors = regard.load({json.dumps(path, ensure_ascii=False)})",
            'vectors.neighbors("word")',
        ),
    ]


def vectors_scores(run: Run) -> list[str]:
    """Return the figures on analogies and rated pairs."""
    scores = run.record.get("scores") or {}
    if not scores:
        command = f"regard vectors evaluate {shlex.quote(str(run.path))} --analogies FILE --similarities FILE"
        return ["## Scores", "", f"None yet; {code(command)} measures them."]
    lines = ["## Scores", ""]
    if "analogies" in scores:
        found = scores["analogies"]
        header = [f"analogies ({Path(found['path']).name})", "questions", "covered", "right"]
        lines += [*table(header, analogy_rows(found)), ""]
    if "similarities" in scores:
        rows = rating_rows(scores["similarities"])
        lines += [*table(["rated pairs", "pairs", "covered", "Spearman", "Pearson"], rows), ""]
    return [*lines, "Right is counted of the covered ones: those whose words all have vectors."]


def vectors_data(run: Run) -> list[str]:
    """Return what the text was."""
    record = run.record
    facts = record["data"]
    counts = facts["train"]
    origin = codes(record["settings"]["data"]["train"]["paths"])
    row = [
        origin,
        f"{counts['documents']:,}",
        f"{counts['words_read']:,}",
        f"{counts['words']:,}",
        f"{facts['vocabulary']:,}",
    ]
    forgotten = counts["forgotten_below"]
    return [
        "## Data",
        "",
        *table(["from", "documents", "words", "of them with vectors", "vocabulary"], [row]),
        "",
        *([f"Words seen {forgotten:,} times or less may have been forgotten while counting."] if forgotten else []),
        f"Hash of the text as it was read: {code(facts['hash'])}.",
        *began(facts),
    ]
