"""Token association between source and target: co-occurrence learned on half of the pairs, tested on the rest."""

import numpy as np
from numpy.typing import NDArray

from regard.data.encoding.batches import EncodedPairs
from regard.data.encoding.sequences import Sequences

PAIRS = 4000
"""Maximum number of pairs in the sample."""
TOKENS = 800
"""The most frequent tokens of each side; rarer ones seldom occur together twice."""


def association(pairs: EncodedPairs) -> float:
    """Return how much better the tokens of pairs fit than those of shuffled pairs, in standard errors."""
    rows = np.random.default_rng(0).permutation(len(pairs))[:PAIRS]
    source, target = (_presence(side.select(rows)) for side in (pairs.source, pairs.target))
    half = len(rows) // 2
    together = source[:half].T @ target[:half]  # (token, token): number of pairs with both
    expected = np.outer(source[:half].sum(0), target[:half].sum(0)) / half
    weights = np.log((together + 1.0) / (expected + 1.0))
    scores = source[half:] @ weights  # (pair, target token)
    gains = (scores * (target[half:] - np.roll(target[half:], 1, axis=0))).sum(1)
    return float(gains.mean() / max(gains.std() / np.sqrt(len(gains)), 1e-9))


def _presence(side: Sequences) -> NDArray[np.float32]:
    """Return (pair, token): 1 where the token occurs."""
    counts = np.bincount(side.ids)
    chosen = np.argsort(-counts, kind="stable")[:TOKENS]
    columns = np.full(len(counts), -1)
    columns[chosen] = np.arange(len(chosen))
    presence = np.zeros((len(side), len(chosen)), np.float32)
    token_columns = columns[side.ids]
    rows = np.repeat(np.arange(len(side)), side.lengths)
    is_frequent = token_columns >= 0
    presence[rows[is_frequent], token_columns[is_frequent]] = 1.0
    return presence
