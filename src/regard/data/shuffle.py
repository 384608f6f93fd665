"""A computed permutation: each element follows from its index, so a corpus of any size is shuffled without memory."""

import numpy as np
from numpy.typing import NDArray

ROUNDS = 6


def mixed(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return 64 bits each of which depends on all input bits (the finalizer of splitmix64, Steele et al., 2014)."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


class Shuffle:
    """A permutation of range(count): a Feistel network (Luby and Rackoff, 1988) with random round keys.

    The network permutes a power of four; outputs at or above `count` are permuted again (cycle walking).
    """

    def __init__(self, count: int, draw: np.random.Generator) -> None:
        self.count = count
        self.bits = np.uint64(max(2, ((count - 1).bit_length() + 1) // 2))  # in each half
        self.keys = draw.integers(0, 2**63, ROUNDS, dtype=np.uint64)

    def __getitem__(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the permutation at some indices."""
        values = self._permuted(indices.astype(np.uint64))
        while (outside := values >= self.count).any():
            values[outside] = self._permuted(values[outside])
        return values.astype(np.int64)

    def _permuted(self, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        mask = (np.uint64(1) << self.bits) - np.uint64(1)
        left, right = numbers >> self.bits, numbers & mask
        for key in self.keys:
            left, right = right, left ^ (mixed(right + key) & mask)
        return (left << self.bits) | right
