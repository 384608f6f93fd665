"""Seeds that follow from where training stands, so that no random state has to be saved."""

import numpy as np


def derived_seed(*parts: int) -> int:
    """Return a seed that depends on all parts and on nothing else."""
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0])
