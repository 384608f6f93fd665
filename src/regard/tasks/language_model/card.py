"""The sections of a language model's card on scores and data."""

from regard.reporting.markdown import code, table
from regard.tasks.card import CardInput, no_scores, pretrained
from regard.tasks.language_model.records import LanguageScores
from regard.tasks.text.corpora import text_report, text_rows


def scores_section(card: CardInput) -> list[str]:
    """Return the metrics on every set."""
    scores = {name: LanguageScores.model_validate(each) for name, each in card.record.scores.items()}
    if not scores:
        return no_scores(card.path)
    rows = [
        [
            name,
            f"{each.tokens:,}",
            f"{each.loss:.4f}",
            f"{each.perplexity:.2f}",
            f"{each.bits_per_byte:.4f}",
            f"{each.word_perplexity:.2f}",
            each.scores[0].signature,
            code(each.test_set[:12]),
        ]
        for name, each in scores.items()
    ]
    header = ["set", "tokens", "loss", "perplexity", "bits per byte", "word perplexity", "evaluated with", "text"]
    note = (
        "The loss is in nats per token. Bits per byte and word perplexity do not depend on the tokenizer; token "
        "perplexities can be compared between models with the same tokenizer only."
    )
    return ["## Scores", "", *table(header, rows), "", note]


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
