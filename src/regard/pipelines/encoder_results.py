"""Results of a text encoder, as frozen dataclasses."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.text.mask_tokens import fill_masks

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class MaskCandidate:
    """A candidate token for a mask, and its probability."""

    token: str
    id: int
    probability: float


@dataclass(frozen=True)
class MaskFilling:
    """A text with masks, and the most probable tokens of each, best first; masks are predicted independently."""

    text: str
    masks: tuple[tuple[MaskCandidate, ...], ...]

    @property
    def filled(self) -> str:
        """The text with the most probable token for every mask."""
        return fill_masks(self.text, [fillers[0].token for fillers in self.masks])

    def filled_with(self, mask: int, filler: MaskCandidate) -> str:
        """Return the text with this token for one mask (from 0), and the most probable tokens for the others."""
        tokens = [fillers[0].token for fillers in self.masks]
        return fill_masks(self.text, [*tokens[:mask], filler.token, *tokens[mask + 1 :]])


@dataclass(frozen=True)
class TokenVectors:
    """The tokens of a text with [CLS] and [SEP], their offsets and vectors."""

    text: str
    tokens: tuple[str, ...]
    offsets: tuple[tuple[int, int], ...]
    """Start and end of each token in the text, in characters; (0, 0) for [CLS] and [SEP]."""
    vectors: Vectors  # (T, D)
    is_truncated: bool
    """The text was longer than the model's maximum, and was truncated."""


@dataclass(frozen=True)
class WordSimilarity:
    """Cosine similarity of a word of one text and a word of another."""

    in_context: float
    """Of their contextual vectors."""
    without_context: float
    """Of their rows of the embedding matrix: 1 for the same word, whatever its meaning."""
