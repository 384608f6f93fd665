"""Counter-based random numbers: each is a pure function of key and counter."""

import numpy as np

from regard.data.counter_rng import key_of, keys_at, ragged, uniform

SPLITMIX64 = (6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431)
"""The first outputs of splitmix64 for the seed 1234567, as other implementations publish them."""


def test_keys_are_the_outputs_of_splitmix64():
    assert keys_at(np.uint64(1234567), np.arange(4)).tolist() == list(SPLITMIX64)


def test_a_key_does_not_depend_on_the_others_computed_with_it():
    key, counters = key_of(7), np.arange(1000)
    alone = [int(keys_at(key, counter)) for counter in range(1000)]
    assert keys_at(key, counters).tolist() == alone
    assert keys_at(key, counters[::-1]).tolist() == alone[::-1]
    rows = keys_at(key, np.arange(5))
    assert keys_at(rows, np.full(5, 3)).tolist() == [int(keys_at(row, 3)) for row in rows]


def test_keys_of_different_parts_differ():
    parts = [(seed, epoch, use) for seed in range(9) for epoch in range(9) for use in range(9)]
    assert len({int(key_of(*each)) for each in parts}) == len(parts)
    assert key_of(1) == key_of(1, 0) != key_of(0, 1)  # trailing zeros do not count
    assert len(set(keys_at(key_of(0), np.arange(100_000)).tolist())) == 100_000


def test_uniform_numbers_fill_the_unit_interval():
    numbers = uniform(keys_at(key_of(3), np.arange(100_000)))
    shares = np.histogram(numbers, 10, (0, 1))[0] / len(numbers)
    assert abs(shares - 0.1).max() < 0.005
    assert uniform(np.array([0, 2**64 - 1], np.uint64)).tolist() == [0.0, 1 - 2.0**-53]


def test_ragged_ranges_are_those_of_a_loop():
    begins, sizes = np.array([5, 0, 9, 2]), np.array([3, 0, 1, 4])
    wanted = [number for begin, size in zip(begins, sizes, strict=True) for number in range(begin, begin + size)]
    assert ragged(begins, sizes).tolist() == wanted
    assert ragged(np.zeros(0, np.int64), np.zeros(0, np.int64)).tolist() == []
