"""Texts in which words are missing: [MASK] in them is found, which it never is in any other text."""

from regard.errors import ConfigError
from regard.text.tokenizer import MASK, Tokenizer


def encode_masked(tokenizer: Tokenizer, text: str) -> list[int]:
    """Return the ids of a text, with the mask token wherever it says [MASK]; special tokens around it apart."""
    if tokenizer.mask_id is None:
        raise ConfigError(f"This model's tokenizer has no {MASK}, so it cannot be told what is missing.")
    first, *others = tokenizer.encode_batch(text.split(MASK))
    return first + [number for part in others for number in (tokenizer.mask_id, *part)]


def fill_masks(text: str, pieces: list[str]) -> str:
    """Return a text with a piece in the place of each [MASK]; one that goes on with a word has no space before it."""
    parts = text.split(MASK)
    filled = parts[0]
    for piece, part in zip(pieces, parts[1:], strict=True):
        is_inside = piece.startswith("##") and len(piece) > 2
        filled = (filled.rstrip() + piece[2:] if is_inside else filled + piece.removeprefix("▁")) + part
    return filled
