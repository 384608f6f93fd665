"""Derived seeds: a function of the training position, so that no RNG state has to be saved."""

import numpy as np


def derived_seed(*parts: int) -> int:
    """Return a seed of 64 bits that depends on all parts and on nothing else."""
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0])
