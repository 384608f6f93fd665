"""From the vectors of tokens to those of texts and of words, and how alike two of them are."""

import re
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from regard.errors import DataError
from regard.pipelines.encoder_results import TokenVectors, Vectors

Pooling = Literal["cls", "mean", "max"]
"""The vector of a text: that of its first token, or the mean or the largest values of all its tokens."""


def pooled(hidden: Tensor, token_mask: Tensor, pooling: str) -> Tensor:
    """Return the vectors of texts (B, D) for the states of their tokens (B, T, D), padding left out."""
    if pooling == "cls":
        return hidden[:, 0]
    if pooling == "max":
        return hidden.masked_fill(~token_mask[:, :, None], -torch.inf).amax(1)
    return (hidden * token_mask[:, :, None]).sum(1) / token_mask.sum(1, keepdim=True)


def cosine(one: Vectors, other: Vectors) -> float:
    """Return the cosine of the angle between two vectors; rounding takes it past 1 nowhere."""
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(np.clip(float(one @ other) / lengths, -1, 1)) if lengths else 0.0


def word_places(found: TokenVectors, word: str) -> list[int]:
    """Return the places of the tokens of a text that make up the first such word in it, in capitals or not."""
    match = re.search(rf"(?<!\w){re.escape(word.strip())}(?!\w)", found.text, re.IGNORECASE)
    if match is None or not word.strip():
        raise DataError(f'There is no word "{word}" in "{found.text}"; name one that is.')
    begin, end = match.span()
    places = [place for place, (start, stop) in enumerate(found.offsets) if start < end and stop > begin]
    if not places:
        raise DataError(f'The word "{word}" lies behind what is read of "{found.text[:40]}…"; shorten the text.')
    return places
