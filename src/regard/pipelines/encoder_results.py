"""What a text encoder answers: small frozen values."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.text.mask_tokens import fill_masks

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class MaskCandidate:
    """A token that could stand in the place of a mask, and its probability."""

    token: str
    id: int
    probability: float


@dataclass(frozen=True)
class MaskFilling:
    """A text with masks, and for each of them the likeliest tokens, best first; each mask is filled on its own."""

    text: str
    masks: tuple[tuple[MaskCandidate, ...], ...]

    @property
    def filled(self) -> str:
        """The text with the likeliest token in every place."""
        return fill_masks(self.text, [fillers[0].token for fillers in self.masks])

    def filled_with(self, mask: int, filler: MaskCandidate) -> str:
        """Return the text with this token in the place of one mask (from 0), and the likeliest in the others."""
        pieces = [fillers[0].token for fillers in self.masks]
        return fill_masks(self.text, [*pieces[:mask], filler.token, *pieces[mask + 1 :]])


@dataclass(frozen=True)
class TokenVectors:
    """The tokens of a text with [CLS] and [SEP] around them, where each lies in it, and the vector of each."""

    text: str
    tokens: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    """Begin and end in the text; (0, 0) for the tokens around it."""
    vectors: Vectors  # (T, D)
    is_truncated: bool
    """Whether the text was longer than the model reads, and lost its end."""


@dataclass(frozen=True)
class WordSimilarity:
    """How alike a word of one text and a word of another are: the cosine between their vectors."""

    in_context: float
    """As the model sees them in their texts."""
    without_context: float
    """As the table of the vocabulary has them: 1 for the same word, whatever it means."""
