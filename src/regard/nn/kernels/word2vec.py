"""Skip-gram and CBOW with negative sampling, compiled by numba for CPUs: `objectives/word2vec.py`, pair by pair.

Threads may update the same tables without locks (Hogwild; Recht et al., 2011): lost updates are rare.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

CELLS, REACH = 1024, 6.0
"""Cells of the sigmoid table, and its range: beyond ±6 the sigmoid is 0 or 1."""
HALF = 2**32
"""Probabilities are compared as 32-bit integers."""

_MULTIPLIER, _INCREMENT = np.uint64(6364136223846793005), np.uint64(1442695040888963407)
_SHIFT, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
_ZERO, _ONE = np.float32(0), np.float32(1)
_REACH, _SCALE, _LAST = np.float32(REACH), np.float32(CELLS / (2 * REACH)), CELLS - 1


def logistic_tables() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the sigmoid and the log-sigmoid at the middle of every cell."""
    middles = (np.arange(CELLS) + 0.5) / CELLS * 2 * REACH - REACH
    return (1 / (1 + np.exp(-middles))).astype(np.float32), -np.logaddexp(0, -middles).astype(np.float32)


def _compiled(function: Callable[..., Any]) -> Any:
    options: dict[str, Any] = {"nogil": True, "fastmath": True, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no writable cache folder
        return numba.njit(**options)(function)


@_compiled
def _keep(ids, end, thresholds, kept, state):  # the words that subsampling keeps
    count = 0
    for position in range(len(ids)):
        word = ids[position]
        if word < end:
            state = state * _MULTIPLIER + _INCREMENT
            if np.uint32(state >> _SHIFT) > thresholds[word]:
                continue
        kept[count] = word
        count += 1
    return count, state


@_compiled
def _step(rows, row, contexts, word, positive, negatives, noise, other, sigmoid, logs, rate, errors, state):
    # One vector against the true word and sampled negatives; the vector's own update is left in `errors`.
    width = rows.shape[1]
    size = np.uint64(contexts.shape[0])
    loss = np.float32(0)
    for k in range(width):
        errors[k] = _ZERO
    for number in range(negatives + 1):
        target, label = np.int64(positive), _ONE
        if number > 0:
            state = state * _MULTIPLIER + _INCREMENT
            target, label = np.int64(((state >> _SHIFT) * size) >> _SHIFT), _ZERO
            if np.uint32(state & _LOW) >= noise[target]:
                target = np.int64(other[target])
            if target == positive:
                continue
        logit = _ZERO
        for k in range(width):
            logit += rows[row, k] * contexts[target, k]
        if logit >= _REACH:
            cell, probability = _LAST, _ONE
        elif logit <= -_REACH:
            cell, probability = 0, _ZERO
        else:
            cell = max(0, min(_LAST, int((logit + _REACH) * _SCALE)))  # also for NaN
            probability = sigmoid[cell]
        loss -= logs[cell] if number == 0 else logs[_LAST - cell]
        slope = (label - probability) * rate
        for k in range(width):
            value = contexts[target, k]
            errors[k] += slope * value
            contexts[target, k] = value + slope * rows[row, k]
    return loss, state


@_compiled
def skip_gram_slice(
    ids, end, thresholds, words, contexts, noise, other, sigmoid, logs, window, negatives, rate, state, kept, errors
):
    """Train on a slice of the stream, in which `end` separates documents; return the summed loss and the pairs."""
    count, state = _keep(ids, end, thresholds, kept, state)
    width, reach = words.shape[1], np.uint64(window)
    loss, pairs = 0.0, 0
    for position in range(count):
        center = kept[position]
        if center >= end:
            continue
        state = state * _MULTIPLIER + _INCREMENT
        span = 1 + np.int64(((state >> _SHIFT) * reach) >> _SHIFT)  # nearer words are used more often
        for side in (-1, 1):
            for distance in range(1, span + 1):
                where = position + side * distance
                if where < 0 or where >= count or kept[where] >= end:
                    break
                more, state = _step(
                    words, center, contexts, center, kept[where], negatives, noise, other, sigmoid, logs, rate,
                    errors, state,
                )  # fmt: skip
                for k in range(width):
                    words[center, k] += errors[k]
                loss += more
                pairs += 1
    return loss, pairs


@_compiled
def cbow_slice(
    ids, end, thresholds, words, contexts, noise, other, sigmoid, logs, window, negatives, rate, state, kept, errors
):
    """The same for CBOW: the mean of the context predicts the word; every context word gets the full update."""
    count, state = _keep(ids, end, thresholds, kept, state)
    width, reach = words.shape[1], np.uint64(window)
    mean = np.empty((1, width), np.float32)
    loss, pairs = 0.0, 0
    for position in range(count):
        center = kept[position]
        if center >= end:
            continue
        state = state * _MULTIPLIER + _INCREMENT
        span = 1 + np.int64(((state >> _SHIFT) * reach) >> _SHIFT)
        first = position
        while first > 0 and position - first < span and kept[first - 1] < end:
            first -= 1
        last = position
        while last + 1 < count and last - position < span and kept[last + 1] < end:
            last += 1
        if first == last:
            continue
        for k in range(width):
            mean[0, k] = _ZERO
        weight = _ONE / np.float32(last - first)
        for where in range(first, last + 1):
            row = kept[where]  # read once: the compiler must assume that a vector overlaps it
            if where != position:
                for k in range(width):
                    mean[0, k] += words[row, k] * weight
        more, state = _step(
            mean, 0, contexts, center, center, negatives, noise, other, sigmoid, logs, rate, errors, state
        )  # fmt: skip
        for where in range(first, last + 1):
            row = kept[where]
            if where != position:
                for k in range(width):
                    words[row, k] += errors[k]
        loss += more
        pairs += 1
    return loss, pairs


SLICES = {"skip-gram": skip_gram_slice, "cbow": cbow_slice}
