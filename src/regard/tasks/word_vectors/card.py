"""The section of word vectors' card on data."""

from regard.reporting.markdown import code, table
from regard.tasks.card import CardInput, pretrained, source_of
from regard.tasks.word_vectors.records import WordReport


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
