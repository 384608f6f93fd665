import numpy as np
import pytest

from regard.data.shuffle import Shuffle


@pytest.mark.parametrize("count", [1, 2, 3, 15, 16, 17, 1000, 4097])
def test_every_number_comes_once(count):
    order = Shuffle(count, np.random.default_rng(1))[np.arange(count)]
    assert sorted(order.tolist()) == list(range(count))


def test_a_part_is_the_same_as_in_the_whole():
    order = Shuffle(10**12, np.random.default_rng(1))
    whole = order[np.arange(1000)]
    assert np.array_equal(order[np.arange(200, 300)], whole[200:300])
    assert whole.max() < 10**12 and len(set(whole.tolist())) == 1000


def test_the_order_is_without_pattern():
    orders = np.stack([Shuffle(500, np.random.default_rng(seed))[np.arange(500)] for seed in range(400)])
    assert np.abs(orders.mean(0) - 249.5).max() < 5 * 500 / np.sqrt(12 * 400)  # any number may stand anywhere
    steps = np.diff(orders, axis=1)
    assert (np.abs(steps) == 1).mean() < 0.01  # neighbors are not neighbors any more
    assert abs(np.corrcoef(orders[:, 0], orders[:, 1])[0, 1]) < 0.2
