"""Tokens as people read them: without the marks of spaces, and bytes as characters."""

from collections.abc import Sequence

from tokenizers.decoders import ByteLevel

SPACE = "␣"
"""A token that is white space alone."""
BYTE_MARKS = ("Ġ", "Ċ")
"""The space and the line break of byte-level tokens."""


def readable(tokens: Sequence[str]) -> list[str]:
    """Return the tokens of one text as words and parts of words, for tables and plots."""
    has_bytes = any(mark in token for token in tokens for mark in BYTE_MARKS)
    texts = [ByteLevel().decode([token]) if has_bytes else token.replace("▁", " ") for token in tokens]
    return [text.strip() or (SPACE if text else "") for text in texts]
