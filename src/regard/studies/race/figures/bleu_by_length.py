"""BLEU by source length: it falls where a model encodes the whole source in one vector."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.metrics.translation import translation_scores

BUCKETS = 6
FEWEST = 10
"""Minimum number of sentences of a bucket."""


@dataclass(frozen=True)
class Bucket:
    """The sentences whose source has `shortest` to `longest` tokens, and their BLEU."""

    shortest: int
    longest: int
    sentences: int
    bleu: float


def bleu_by_length(
    lengths: Sequence[int], hypotheses: Sequence[str], references: Sequence[Sequence[str]]
) -> list[Bucket]:
    """Return the BLEU of buckets of about equal size, from the shortest sources to the longest."""
    sizes = np.asarray(lengths)
    buckets = []
    for shortest, longest in edges(sizes):
        rows = np.flatnonzero((sizes >= shortest) & (sizes <= longest)).tolist()
        outputs, expected = [hypotheses[row] for row in rows], [references[row] for row in rows]
        (score,) = translation_scores(outputs, expected, ["BLEU"])
        buckets.append(Bucket(int(sizes[rows].min()), int(sizes[rows].max()), len(rows), score.value))
    return buckets


def edges(sizes: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> list[tuple[int, int]]:
    """Return inclusive ranges of lengths with about equally many sentences, at least `FEWEST` on average."""
    count = max(1, min(BUCKETS, len(sizes) // FEWEST))
    cuts = np.unique(np.quantile(sizes, np.linspace(0, 1, count + 1)[1:], method="higher").astype(int)).tolist()
    starts = [int(sizes.min()), *(cut + 1 for cut in cuts[:-1])]
    return list(zip(starts, cuts, strict=True))
