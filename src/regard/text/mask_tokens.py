"""Texts with [MASK]: here it is encoded as the mask token, in all other texts as plain characters."""

from regard.errors import ConfigError
from regard.text.tokenizer import MASK, Tokenizer


def encode_masked(tokenizer: Tokenizer, text: str) -> list[int]:
    """Return the ids of a text, with the mask token at each [MASK]; no [CLS] or [SEP] is added."""
    if tokenizer.mask_id is None:
        raise ConfigError(
            f"This model's tokenizer has no {MASK}, so it cannot fill masks; use a masked language model."
        )
    first, *others = tokenizer.encode_batch(text.split(MASK))
    return first + [number for part in others for number in (tokenizer.mask_id, *part)]


def fill_masks(text: str, tokens: list[str]) -> str:
    """Return a text with each [MASK] replaced by a token; a continuation (##) is joined to the word before it."""
    parts = text.split(MASK)
    filled = parts[0]
    for token, part in zip(tokens, parts[1:], strict=True):
        is_inside = token.startswith("##") and len(token) > 2
        filled = (filled.rstrip() + token[2:] if is_inside else filled + token.removeprefix("▁")) + part
    return filled
