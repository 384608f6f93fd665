"""The sections of an ELMo's card on scores and data."""

import shlex

from regard.reporting.markdown import code, table
from regard.tasks.card import CardInput, no_scores, pretrained
from regard.tasks.elmo.records import ElmoReport, ElmoScores
from regard.tasks.text.corpora import text_rows


def scores_section(card: CardInput) -> list[str]:
    """Return the metrics on every set."""
    scores = {name: ElmoScores.model_validate(each) for name, each in card.record.scores.items()}
    if not scores:
        return no_scores(card.path)
    rows = [
        [
            name,
            f"{each.words:,}",
            f"{each.oov_fraction:.2%}".replace("%", " %"),
            f"{each.forward_loss:.4f}",
            f"{each.backward_loss:.4f}",
            f"{each.forward_perplexity:.2f}",
            f"{each.backward_perplexity:.2f}",
            code(each.test_set[:12]),
        ]
        for name, each in scores.items()
    ]
    header = [
        "set",
        "words",
        "out of vocabulary",
        "forward loss",
        "backward loss",
        "forward perplexity",
        "backward perplexity",
        "text",
    ]
    note = (
        "Forward predicts each word from those before it, backward from those after it, in nats per word; a word "
        "outside the output vocabulary counts as unknown. Metrics can be compared between models with the same "
        "output vocabulary only."
    )
    return ["## Scores", "", *table(header, rows), "", note]


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
