"""Whether pieces of one side go with pieces of the other at all: learned on half of the pairs, tried on the rest."""

import numpy as np
from numpy.typing import NDArray

from regard.data.encoding.batches import EncodedPairs
from regard.data.encoding.sequences import Sequences

PAIRS = 4000
PIECES = 800
"""The most frequent pieces of each side; rarer ones seldom meet twice."""


def association(pairs: EncodedPairs) -> float:
    """Return by how many standard errors the pieces of pairs fit each other better than those of shuffled ones."""
    rows = np.random.default_rng(0).permutation(len(pairs))[:PAIRS]
    source, target = (_presence(side.select(rows)) for side in (pairs.source, pairs.target))
    half = len(rows) // 2
    together = source[:half].T @ target[:half]  # (piece, piece): in how many pairs both occur
    chance = np.outer(source[:half].sum(0), target[:half].sum(0)) / half
    worth = np.log((together + 1.0) / (chance + 1.0))
    expected = source[half:] @ worth  # (pair, target piece)
    gains = (expected * (target[half:] - np.roll(target[half:], 1, axis=0))).sum(1)
    return float(gains.mean() / max(gains.std() / np.sqrt(len(gains)), 1e-9))


def _presence(side: Sequences) -> NDArray[np.float32]:
    """Return (pair, piece): 1 where a piece occurs."""
    counts = np.bincount(side.ids)
    chosen = np.argsort(-counts, kind="stable")[:PIECES]
    columns = np.full(len(counts), -1)
    columns[chosen] = np.arange(len(chosen))
    found = np.zeros((len(side), len(chosen)), np.float32)
    places = columns[side.ids]
    rows = np.repeat(np.arange(len(side)), side.lengths)
    found[rows[places >= 0], places[places >= 0]] = 1.0
    return found
