"""Checks of text that word vectors are to learn from: whether there is enough of it, and how many words take part."""

from typing import Any

from regard.tasks.findings import Finding, percent

FEW_WORDS, SOME_WORDS = 100_000, 1_000_000
"""Words under which neighbors are mostly chance, and those under which only the frequent ones are sound."""
MOST_LEFT_OUT = 0.1
"""Share of a text that may have no vectors before that is said."""


def word_findings(settings: Any, facts: dict[str, Any]) -> list[Finding]:
    """Return what is odd about the words of a text; `facts` are those of a run that is prepared."""
    found = facts["train"]
    return [_amount(found["words_read"], settings.train.epochs), _left_out(settings, found), *_forgotten(found)]


def _amount(words: int, epochs: float) -> Finding:
    figures = {"words": float(words), "epochs": epochs}
    said = f"There are {words:,} words to learn from, {epochs:g} times over"
    if words >= SOME_WORDS:
        return Finding("sizes", "few-words", "ok", f"{said}.", figures=figures)
    if words >= FEW_WORDS:
        sentence, severity = f"{said}: enough for frequent words, few for rare ones.", "note"
    else:
        sentence, severity = f"{said}: too few for neighbors that are more than chance.", "warning"
    way = "add text, or begin with vectors that others have learned"
    return Finding("sizes", "few-words", severity, sentence, (), way, figures=figures)  # type: ignore[arg-type]


def _left_out(settings: Any, found: dict[str, Any]) -> Finding:
    text, share = settings.text, 1 - found["words"] / max(1, found["words_read"])
    figures = {"share": share}
    if share <= MOST_LEFT_OUT:
        sentence = f"{percent(1 - share, 1)} of the text's words have vectors."
        return Finding("text", "left-out-words", "ok", sentence, figures=figures)
    sentence = f"{percent(share, 1)} of the text's words have no vectors, as they are too rare and are passed over."
    if text.size is not None:
        remedy, changes = "allow more words", {"text.size": None}
    elif text.minimum_count > 1:
        remedy, changes = "take rarer words too", {"text.minimum_count": max(1, text.minimum_count // 2)}
    else:
        remedy, changes = "add text", {}
    return Finding("text", "left-out-words", "warning", sentence, (), remedy, changes, figures)


def _forgotten(found: dict[str, Any]) -> list[Finding]:
    below = found["forgotten_below"]
    if not below:
        return []
    sentence = (
        f"There were more words than are counted at once; those below {below:,} times were forgotten on the way."
    )
    return [Finding("text", "forgotten-words", "note", sentence, (), "count more at once (text.max_counted_words)")]
