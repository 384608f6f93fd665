"""The section of an ELMo's card on data."""

import shlex

from regard.reporting.markdown import code, table
from regard.tasks.card import CardInput, pretrained
from regard.tasks.elmo.records import ElmoReport
from regard.tasks.text.corpora import text_rows


def data_section(card: CardInput) -> list[str]:
    """Return the source and the size of every set."""
    report = card.record.report
    assert isinstance(report, ElmoReport)
    command = f"regard train classify --data reviews.csv --init-from {shlex.quote(str(card.path))}"
    return [
        "## Data",
        "",
        *table(["set", "from", "documents", "characters", "bytes", "words"], text_rows(card.record)),
        "",
        f"Words are encoded byte by byte (the token before each is counted as a character), in windows of about "
        f"{report.window:,} words; the output vocabulary has {report.vocabulary:,}. Hash of the encoded text: "
        f"{code(report.hash)}.",
        *pretrained(report),
        "",
        f"A classifier or a tagger takes its vectors as features: {code(command)}.",
    ]
