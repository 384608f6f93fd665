"""Pooling of token vectors to those of texts and words, and their cosine similarity."""

import math
import re
from typing import TYPE_CHECKING, Literal

import numpy as np

from regard.errors import DataError
from regard.pipelines.encoder_results import TokenVectors, Vectors

if TYPE_CHECKING:
    from torch import Tensor

Pooling = Literal["cls", "mean", "max"]
"""cls: the vector of the first token; mean, max: the mean or maximum over all tokens."""


def pooled(hidden: "Tensor", token_mask: "Tensor", pooling: str) -> "Tensor":
    """Return pooled vectors (B, D) of hidden states (B, T, D), padding excluded."""
    if pooling == "cls":
        return hidden[:, 0]
    if pooling == "max":
        return hidden.masked_fill(~token_mask[:, :, None], -math.inf).amax(1)
    return (hidden * token_mask[:, :, None]).sum(1) / token_mask.sum(1, keepdim=True)


def cosine(one: Vectors, other: Vectors) -> float:
    """Return the cosine similarity of two vectors, clipped to [-1, 1]; 0 for a zero vector."""
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(np.clip(float(one @ other) / lengths, -1, 1)) if lengths else 0.0


def word_positions(encoded: TokenVectors, word: str) -> list[int]:
    """Return the positions of the tokens of a word's first occurrence in a text, ignoring case."""
    match = re.search(rf"(?<!\w){re.escape(word.strip())}(?!\w)", encoded.text, re.IGNORECASE)
    if match is None or not word.strip():
        raise DataError(f'There is no word "{word}" in "{encoded.text}"; name one that is.')
    begin, end = match.span()
    positions = [position for position, (start, stop) in enumerate(encoded.offsets) if start < end and stop > begin]
    if not positions:
        raise DataError(
            f'The word "{word}" is after the part of "{encoded.text[:40]}…" that the model takes; shorten the text.'
        )
    return positions
