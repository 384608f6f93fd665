"""Updates of word2vec: every word of the corpus is in one slice of an epoch."""

import numpy as np
import pytest

from regard.data.feeds.windows import IdStream
from regard.data.feeds.word2vec import SLICE, Word2VecFeed


@pytest.mark.parametrize("size", [1, SLICE, SLICE + 1, 5 * SLICE + 7])
@pytest.mark.parametrize("words", [1000, SLICE, 2 * SLICE + 1, 10**6])
def test_an_epoch_covers_the_corpus_once_and_in_order(size, words):
    feed = Word2VecFeed(IdStream(np.arange(size)), np.ones(3, np.int64), words)
    read = []
    for index in range(feed.updates_in(0)):
        slices = feed.slices(index)
        assert slices and all(0 < end - begin <= SLICE for begin, end in slices)
        assert sum(end - begin for begin, end in slices) <= words
        read += [feed.read(*each) for each in slices]
    assert np.concatenate(read).tolist() == list(range(size)) and read[0].dtype == np.int32


def test_every_epoch_has_the_same_updates_and_all_but_the_last_are_full():
    feed = Word2VecFeed(IdStream(np.arange(10_000)), np.ones(3, np.int64), 3000)
    assert feed.updates_in(0) == feed.updates_in(7) == 4
    sizes = [sum(end - begin for begin, end in feed.slices(index)) for index in range(4)]
    assert sizes == [3000, 3000, 3000, 1000]
