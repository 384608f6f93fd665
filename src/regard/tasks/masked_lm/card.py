"""The section of a masked language model's card on data."""

from regard.reporting.markdown import code, table
from regard.tasks.card import CardInput, pretrained
from regard.tasks.text.corpora import text_report, text_rows


def data_section(card: CardInput) -> list[str]:
    """Return the source and the size of every set."""
    report = text_report(card.record)
    is_by_lines = card.record.settings.data["sentences"] == "lines"
    rule = "a line each" if is_by_lines else "at full stops and their like"
    return [
        "## Data",
        "",
        *table(["set", "from", "documents", "tokens", "bytes", "words"], text_rows(card.record)),
        "",
        f"Sentences are split {rule} (the token after each is counted too); sequences have up to "
        f"{report.window:,} tokens. Hash of the tokenized text: {code(report.hash)}.",
        *pretrained(report),
    ]
