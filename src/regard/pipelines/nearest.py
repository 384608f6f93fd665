"""The texts that are most like others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError
from regard.pipelines.encoder import Encoder
from regard.progress import SILENT, Progress

AT_ONCE = 2**24
"""Cosines that are held at once."""


@dataclass(frozen=True)
class Near:
    """A text, its number from 0 among the others, and how like the one in question it is."""

    text: str
    number: int
    similarity: float


def nearest(
    encoder: Encoder,
    texts: Sequence[str],
    others: Sequence[str],
    top: int = 5,
    *,
    progress: Progress = SILENT,
    **settings: Any,
) -> list[list[Near]]:
    """Return for each text the `top` most similar of the others, best first."""
    if not others:
        raise DataError("There is nothing to compare with: the other texts are none.")
    settings |= {"is_normalized": True, "progress": progress}
    ours, theirs = (encoder.embed(list(each), **settings) for each in (texts, others))
    count = min(top, len(others))
    found: list[list[Near]] = []
    for begin in range(0, len(ours), max(1, AT_ONCE // len(others))):
        values = ours[begin : begin + max(1, AT_ONCE // len(others))] @ theirs.T
        # The first of equals comes first, whatever else is there.
        best = np.argsort(-values, axis=1, kind="stable")[:, :count]
        found += [
            [Near(others[place], int(place), float(row[place])) for place in places]
            for row, places in zip(values, best, strict=True)
        ]
    return found


def pair_similarities(
    encoder: Encoder, pairs: Sequence[tuple[str, str]], *, progress: Progress = SILENT, **settings: Any
) -> NDArray[np.float32]:
    """Return the cosine between the two texts of each pair (N,)."""
    settings |= {"is_normalized": True, "progress": progress}
    vectors = encoder.embed([text for pair in pairs for text in pair], **settings)
    return (vectors[::2] * vectors[1::2]).sum(1)
