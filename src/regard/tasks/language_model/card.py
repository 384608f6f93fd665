"""The section of a language model's card on data."""

from regard.reporting.markdown import code, table
from regard.tasks.card import CardInput, pretrained
from regard.tasks.text.corpora import text_report, text_rows


def data_section(card: CardInput) -> list[str]:
    """Return the source and the size of every set."""
    report = text_report(card.record)
    return [
        "## Data",
        "",
        *table(["set", "from", "documents", "tokens", "bytes", "words"], text_rows(card.record)),
        "",
        f"Training windows of {report.window:,} tokens; hash of the tokenized text: {code(report.hash)}.",
        *pretrained(report),
    ]
