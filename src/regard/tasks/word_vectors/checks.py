"""Checks of text for word vectors: enough words, and coverage by the vocabulary."""

from typing import Any

from regard.tasks.findings import Finding, Severity, percent
from regard.tasks.word_vectors.prepare import CountedWords
from regard.tasks.word_vectors.records import WordCountsRecord
from regard.text.settings import WordSettings

FEW_WORDS, SOME_WORDS = 100_000, 1_000_000
"""Words below which neighbors are mostly noise, and below which only frequent words have good vectors."""
MOST_LEFT_OUT = 0.1
"""Fraction of a text that may have no vectors before it is a warning."""


def word_findings(data: CountedWords) -> list[Finding]:
    """Return the findings on the words of a text: enough of them, covered by the vocabulary, none pruned."""
    counts, settings = data.totals, data.settings
    return [
        _amount(counts.words_read, settings.train.epochs),
        _out_of_vocabulary(settings.text, counts),
        *_pruned(counts.pruned_below),
    ]


def _amount(words: int, epochs: float) -> Finding:
    metrics = {"words": float(words), "epochs": epochs}
    amount = f"There are {words:,} words of training text, {epochs:g} epochs"
    if words >= SOME_WORDS:
        return Finding("sizes", "few-words", "ok", f"{amount}.", metrics=metrics)
    severity: Severity = "note" if words >= FEW_WORDS else "warning"
    reason = "enough for frequent words, few for rare ones" if words >= FEW_WORDS else "too few for good neighbors"
    remedy = "add text, or start from pretrained vectors"
    return Finding("sizes", "few-words", severity, f"{amount}: {reason}.", (), remedy, metrics=metrics)


def _out_of_vocabulary(text: WordSettings, counts: WordCountsRecord) -> Finding:
    fraction = 1 - counts.words / max(1, counts.words_read)
    metrics = {"fraction": fraction}
    if fraction <= MOST_LEFT_OUT:
        sentence = f"{percent(1 - fraction, 1)} of the text's words have vectors."
        return Finding("text", "left-out-words", "ok", sentence, metrics=metrics)
    sentence = f"{percent(fraction, 1)} of the text's words are too rare to have vectors, and are skipped."
    changes: dict[str, Any] = {}
    remedy = "add text"
    if text.size is not None:
        remedy, changes = "allow more words", {"text.size": 2 * text.size}
    elif text.min_count > 1:
        remedy, changes = "take rarer words too", {"text.min_count": max(1, text.min_count // 2)}
    return Finding("text", "left-out-words", "warning", sentence, (), remedy, changes, metrics)


def _pruned(below: int | None) -> list[Finding]:
    if not below:
        return []
    sentence = (
        f"The text has more distinct words than are counted at once; those below {below:,} occurrences were pruned."
    )
    return [Finding("text", "forgotten-words", "note", sentence, (), "count more at once (text.max_counted_words)")]
