"""Token-budget sampling: updates are a pure function of (seed, epoch), so that any position can be resumed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]

POOL = 64
"""Updates whose shuffled examples are sorted by length together: enough to keep padding low, few enough that an
update is still a random mixture."""


@dataclass(frozen=True)
class Position:
    """The next update: its epoch and its index in the epoch; with the seed, the whole state of the data."""

    epoch: int = 0
    index: int = 0


def plan_updates(
    source_lengths: Rows,
    target_lengths: Rows,
    tokens: int,
    seed: int,
    epoch: int,
    pool: int = POOL,
    sizes: Rows | None = None,
) -> list[Rows]:
    """Return the updates of an epoch: rows of examples of similar length, about `tokens` target tokens each.

    Every row is in exactly one update. `sizes` replaces target lengths as what examples count for.
    """
    draw = np.random.default_rng([seed, epoch])
    rows = draw.permutation(len(target_lengths))
    sizes = target_lengths if sizes is None else sizes
    updates: list[Rows] = []
    for part in cut_evenly(rows, sizes, tokens * pool):
        order = np.lexsort((source_lengths[part], target_lengths[part]))
        updates += cut_evenly(part[order], sizes, tokens)
    return [updates[index] for index in draw.permutation(len(updates))]


def cut_evenly(rows: Rows, lengths: Rows, tokens: int) -> list[Rows]:
    """Cut rows into consecutive parts of about `tokens` tokens, all of similar size, without a small remainder."""
    total = np.cumsum(lengths[rows])
    parts = max(1, round(float(total[-1]) / tokens))
    cuts = np.searchsorted(total, np.arange(1, parts) * (total[-1] / parts))
    return [part for part in np.split(rows, cuts) if len(part)]


def micro_batches(rows: Rows, source_lengths: Rows, target_lengths: Rows, limit: int) -> list[Rows]:
    """Cut an update into parts whose padded size (both sides) is at most `limit` tokens, or that have one example.

    The limit affects memory only: the parts together are always the same examples.
    """
    order = np.lexsort((source_lengths[rows], target_lengths[rows]))[::-1]  # longest first: memory peaks early
    rows = rows[order]
    parts: list[Rows] = []
    begin, widest = 0, 0
    for index, row in enumerate(rows):
        widest = max(widest, int(source_lengths[row]))
        size = (index + 1 - begin) * (widest + int(target_lengths[rows[begin]]))
        if index > begin and size > limit:
            parts.append(rows[begin:index])
            begin, widest = index, int(source_lengths[row])
    return [*parts, rows[begin:]]


def padded_size(rows: Rows, source_lengths: Rows, target_lengths: Rows) -> int:
    """Return the number of tokens of a micro-batch on both sides, padding included."""
    return len(rows) * int(source_lengths[rows].max() + target_lengths[rows].max())
