"""Settings of scores that are computed of files."""

from regard.config.settings import Settings


class BleuSettings(Settings):
    """The texts of a BLEU score, and how they are compared."""

    inline: bool = False
    """Treat HYP and REF as sentences, not files."""
    explain: bool = False
    """Show n-gram counts, precisions and the brevity penalty."""
    tokenize: str = "13a"
    """sacrebleu tokenizer: 13a, intl, zh, char or none."""
    lowercase: bool = False
    """Lowercase hypotheses and references."""
