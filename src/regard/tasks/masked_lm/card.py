"""The sections of a masked language model's card on scores and data."""

from regard.reporting.markdown import code, table
from regard.tasks.card import CardInput, no_scores, pretrained
from regard.tasks.masked_lm.records import MaskedScores
from regard.tasks.text.corpora import text_report, text_rows


def scores_section(card: CardInput) -> list[str]:
    """Return the metrics on every set."""
    scores = {name: MaskedScores.model_validate(each) for name, each in card.record.scores.items()}
    if not scores:
        return no_scores(card.path)
    rows = [
        [
            name,
            f"{each.masked:,}",
            f"{each.mlm_loss:.4f}",
            f"{each.pseudo_perplexity:.2f}",
            f"{each.masked_accuracy:.4f}",
            f"{each.majority_baseline:.4f}",
            "-" if each.next_sentence_accuracy is None else f"{each.next_sentence_accuracy:.4f}",
            f"{each.pairs:,}",
            code(each.test_set[:12]),
        ]
        for name, each in scores.items()
    ]
    header = [
        "set",
        "masked tokens",
        "loss",
        "pseudo-perplexity",
        "accuracy",
        "majority baseline",
        "next-sentence accuracy",
        "pairs",
        "text",
    ]
    rule = next(iter(scores.values())).rule
    note = (
        f"Masks and pairs are the same at every evaluation: {rule}. The loss is in nats per masked token, the "
        "pseudo-perplexity its exponential; the majority baseline is the fraction of the most frequent of these "
        "tokens. Metrics can be compared between models with the same tokenizer only."
    )
    return ["## Scores", "", *table(header, rows), "", note]


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
