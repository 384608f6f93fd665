"""Updates of word2vec training: a stream of word ids in slices for the threads."""

import numpy as np
from numpy.typing import NDArray

from regard.data.corpus.corpus import Corpus

SLICE = 2**12
"""Words per slice, the unit of work of a thread."""


class Word2VecFeed:
    """A corpus of word ids in updates of `words_per_update` words, the same in every epoch."""

    def __init__(self, corpus: Corpus, counts: NDArray[np.int64], words_per_update: int) -> None:
        self.corpus, self.counts, self.words_per_update = corpus, counts, words_per_update

    def updates_in(self, epoch: int) -> int:
        """Return the number of updates in an epoch."""
        return -(-len(self.corpus) // self.words_per_update)

    def slices(self, index: int) -> list[tuple[int, int]]:
        """Return (begin, end) of the slices of an update."""
        begin = index * self.words_per_update
        end = min(begin + self.words_per_update, len(self.corpus))
        return [(first, min(first + SLICE, end)) for first in range(begin, end, SLICE)]

    def read(self, begin: int, end: int) -> NDArray[np.int32]:
        """Return the word ids from `begin` to `end`."""
        return self.corpus.read(begin, end).astype(np.int32)
