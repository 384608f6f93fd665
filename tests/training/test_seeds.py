from itertools import product

from regard.training.seeds import derived_seed


def test_a_seed_depends_on_every_part_and_its_position():
    parts = list(product(range(4), repeat=3))
    seeds = {derived_seed(*each) for each in parts}
    assert len(seeds) == len(parts)
    assert derived_seed(1, 2, 3) == derived_seed(1, 2, 3)
    assert all(0 <= seed < 2**64 for seed in seeds)
