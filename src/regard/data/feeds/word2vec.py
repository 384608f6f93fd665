"""A stream of words in the updates that tables of vectors learn from."""

import numpy as np
from numpy.typing import NDArray

from regard.data.corpus.corpus import Corpus

SLICE = 2**12
"""Words that one thread learns from before it takes the next."""


class Word2VecFeed:
    """A corpus of word numbers in updates of so many words, the same ones in every epoch."""

    def __init__(self, corpus: Corpus, counts: NDArray[np.int64], words_per_update: int) -> None:
        self.corpus, self.counts, self.words_per_update = corpus, counts, words_per_update

    def updates_in(self, epoch: int) -> int:
        """Return how many updates a pass over the text is."""
        return -(-len(self.corpus) // self.words_per_update)

    def slices(self, index: int) -> list[tuple[int, int]]:
        """Return (begin, end) of the slices of an update."""
        begin = index * self.words_per_update
        end = min(begin + self.words_per_update, len(self.corpus))
        return [(place, min(place + SLICE, end)) for place in range(begin, end, SLICE)]

    def read(self, begin: int, end: int) -> NDArray[np.int32]:
        """Return the words from `begin` to `end`."""
        return self.corpus.read(begin, end).astype(np.int32)
