"""Numbers in a random order that is computed place by place: a corpus of any size is shuffled in no memory."""

import numpy as np
from numpy.typing import NDArray

ROUNDS = 6


def mixed(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return 64 bits each of which depends on all bits given (the finaliser of splitmix64, Steele et al., 2014)."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


class Shuffle:
    """A permutation of range(count): a Feistel network (Luby and Rackoff, 1988) whose keys are drawn.

    Its own range is a power of four; what falls outside `count` goes through again until it falls inside.
    """

    def __init__(self, count: int, draw: np.random.Generator) -> None:
        self.count = count
        self.bits = np.uint64(max(2, ((count - 1).bit_length() + 1) // 2))  # of each half
        self.keys = draw.integers(0, 2**63, ROUNDS, dtype=np.uint64)

    def __getitem__(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what stands at some places."""
        found = self._through(places.astype(np.uint64))
        while (outside := found >= self.count).any():
            found[outside] = self._through(found[outside])
        return found.astype(np.int64)

    def _through(self, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        mask = (np.uint64(1) << self.bits) - np.uint64(1)
        left, right = numbers >> self.bits, numbers & mask
        for key in self.keys:
            left, right = right, left ^ (mixed(right + key) & mask)
        return (left << self.bits) | right
