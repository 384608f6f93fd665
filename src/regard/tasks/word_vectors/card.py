"""The sections of word vectors' card on scores and data."""

import shlex

from regard.reporting.markdown import code, table
from regard.tasks.card import CardInput, pretrained, source_of
from regard.tasks.word_vectors.evaluate import analogy_table, similarity_table
from regard.tasks.word_vectors.records import VectorScores, WordReport


def scores_section(card: CardInput) -> list[str]:
    """Return the accuracy on analogies and the correlation with rated pairs."""
    scores = VectorScores.model_validate(card.record.scores)
    tables = [*analogy_table(scores.analogies), *similarity_table(scores.similarities)]
    if not tables:
        command = f"regard vectors evaluate {shlex.quote(str(card.path))} --analogies FILE --similarities FILE"
        return ["## Scores", "", f"None yet; {code(command)} computes them."]
    lines = ["## Scores", ""]
    for each in tables:
        lines += [*table(list(each.header), each.rows), ""]
    return [*lines, "Accuracy is over the covered questions: those whose words all have vectors."]


def data_section(card: CardInput) -> list[str]:
    """Return the source and the size of the text."""
    report = card.record.report
    assert isinstance(report, WordReport)
    counts = report.train
    row = [
        source_of(card.record.settings.data, "train"),
        f"{counts.documents:,}",
        f"{counts.words_read:,}",
        f"{counts.words:,}",
        f"{report.vocabulary:,}",
    ]
    pruned = counts.pruned_below
    return [
        "## Data",
        "",
        *table(["from", "documents", "words", "of them with vectors", "vocabulary"], [row]),
        "",
        *([f"Words with {pruned:,} occurrences or fewer may have been pruned while counting."] if pruned else []),
        f"Hash of the encoded text: {code(report.hash)}.",
        *pretrained(report),
    ]
