"""The section of a language model's card on data."""

from regard.reporting.markdown import code, table
from regard.tasks.card import CardInput, pretrained
from regard.tasks.text.corpora import text_report, text_rows
from regard.tasks.text.records import TextReport


def _sequences(report: TextReport) -> str:
    """Return what the training sequences are."""
    if report.dropped_rows is None:
        return f"Training windows of {report.window:,} tokens"
    dropped = ", ".join(f"{count:,} {reason}" for reason, count in report.dropped_rows["train"].items() if count)
    return (
        f"Conversations of at most {report.window:,} tokens; counts are those of answers, which alone have a loss; "
        f"dropped from the training set: {dropped or 'none'}"
    )


def data_section(card: CardInput) -> list[str]:
    """Return the source and the size of every set."""
    report = text_report(card.record)
    return [
        "## Data",
        "",
        *table(["set", "from", "documents", "tokens", "bytes", "words"], text_rows(card.record)),
        "",
        f"{_sequences(report)}; hash of the tokenized text: {code(report.hash)}.",
        *pretrained(report),
    ]
