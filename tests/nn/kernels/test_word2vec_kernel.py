"""Compiled skip-gram and CBOW: which pairs there are, and what subsampling leaves."""

import numpy as np
import pytest

from regard.nn.kernels.word2vec import CELLS, REACH, SLICES, logistic_tables

KEEP_ALL = np.uint32(2**32 - 1)


def run(algorithm, ids, words=4, window=1, thresholds=None, rate=0.1, seed=1):
    """Return the mean loss, the number of pairs, and how far every word's vector has moved."""
    ids = np.asarray(ids, np.int32)
    generator = np.random.default_rng(0)
    vectors, contexts = generator.normal(size=(2, words, 8)).astype(np.float32)
    before = vectors.copy()
    thresholds = np.full(words, KEEP_ALL) if thresholds is None else np.asarray(thresholds, np.uint32)
    noise, other = np.full(words, KEEP_ALL), np.arange(words, dtype=np.int32)
    loss, pairs = SLICES[algorithm](
        *(ids, words, thresholds, vectors, contexts, noise, other, *logistic_tables(), window, 2),
        *(np.float32(rate), np.uint64(seed), np.empty_like(ids), np.empty(8, np.float32)),
    )
    return loss, pairs, np.abs(vectors - before).max(1)


def test_the_tables_are_the_sigmoid_and_its_logarithm():
    sigmoid, logs = logistic_tables()
    x = np.linspace(-REACH, REACH, CELLS + 1)
    middles = (x[:-1] + x[1:]) / 2
    assert np.abs(sigmoid - 1 / (1 + np.exp(-middles))).max() < 1e-6
    assert np.abs(np.exp(logs) - sigmoid).max() < 1e-6 and (np.diff(sigmoid) > 0).all()


@pytest.mark.parametrize("algorithm, expected", [("skip-gram", 6), ("cbow", 4)])
def test_pairs_are_words_with_their_neighbors_within_a_document(algorithm, expected):
    loss, pairs, moved = run(algorithm, [0, 1, 2, 1])
    assert pairs == expected and loss > 0
    assert (moved[:3] > 0).all() and moved[3] == 0  # words that do not occur keep their vectors
    assert run(algorithm, [0, 4, 1, 4, 2])[:2] == (0.0, 0)  # 4 ends a document


@pytest.mark.parametrize("algorithm", ["skip-gram", "cbow"])
def test_a_word_that_subsampling_drops_is_removed_from_the_text(algorithm):
    dropped = [KEEP_ALL, 0, KEEP_ALL, KEEP_ALL]
    loss, pairs, moved = run(algorithm, [0, 1, 2], thresholds=dropped)
    assert pairs == 2 and moved[1] == 0 and loss == run(algorithm, [0, 1, 2], thresholds=dropped)[0]


@pytest.mark.parametrize("algorithm", ["skip-gram", "cbow"])
def test_a_rate_of_0_learns_nothing_and_a_positive_one_lowers_the_loss(algorithm):
    assert (run(algorithm, [0, 1, 2, 3], rate=0.0)[2] == 0).all()
    text = [0, 1] * 200
    short, long = (run(algorithm, text[:count], rate=0.1) for count in (20, 400))
    assert long[0] / long[1] < 0.8 * short[0] / short[1]
