"""Nearest texts by the cosine similarity of their embeddings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError
from regard.pipelines.encoder import Encoder
from regard.progress import SILENT, Progress

AT_ONCE = 2**24
"""Similarities computed at once."""


@dataclass(frozen=True)
class Near:
    """A text, its index among the others, and its similarity to the query."""

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
    **overrides: Any,
) -> list[list[Near]]:
    """Return for each text the `top` most similar of the others, best first."""
    if not others:
        raise DataError("There are no other texts to compare with.")
    overrides |= {"is_normalized": True, "progress": progress}
    queries, keys = (encoder.embed(list(each), **overrides) for each in (texts, others))
    count = min(top, len(others))
    results: list[list[Near]] = []
    for begin in range(0, len(queries), max(1, AT_ONCE // len(others))):
        values = queries[begin : begin + max(1, AT_ONCE // len(others))] @ keys.T
        # Stable, so that ties keep the order of the texts.
        best = np.argsort(-values, axis=1, kind="stable")[:, :count]
        results += [
            [Near(others[index], int(index), float(row[index])) for index in indices]
            for row, indices in zip(values, best, strict=True)
        ]
    return results


def pair_similarities(
    encoder: Encoder, pairs: Sequence[tuple[str, str]], *, progress: Progress = SILENT, **overrides: Any
) -> NDArray[np.float32]:
    """Return the cosine similarity of the two texts of each pair (N,)."""
    overrides |= {"is_normalized": True, "progress": progress}
    vectors = encoder.embed([text for pair in pairs for text in pair], **overrides)
    return (vectors[::2] * vectors[1::2]).sum(1)
