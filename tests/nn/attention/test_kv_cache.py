"""The cache of keys and values: rows and slots come and go in place, and those in use keep their values."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from regard.nn.attention.kv_cache import KeyValueCache


def filled(rows, slots, seed=0):
    torch.manual_seed(seed)
    cache, keys, values = KeyValueCache(), torch.randn(rows, 2, slots, 4), torch.randn(rows, 2, slots, 4)
    cache.append(keys, values)
    return cache, keys, values


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 30), st.booleans()), min_size=1, max_size=5))
def test_rows_that_join_are_aligned_and_padded_with_zeros(others):
    cache, keys, values = filled(2, 5)
    for seed, (rows, slots, is_left) in enumerate(others, start=1):
        _, new_keys, new_values = filled(rows, slots, seed)
        cache.join(new_keys, new_values, is_left)
        width = max(keys.size(2), slots)
        assert cache.length == width and cache.sentences == len(keys) + rows
        parts = []
        for old, new in ((keys, new_keys), (values, new_values)):
            whole = torch.zeros(len(old) + rows, 2, width, 4)
            for part, first in ((old, 0), (new, len(old))):
                begin = width - part.size(2) if is_left else 0
                whole[first : first + len(part), :, begin : begin + part.size(2)] = part
            parts.append(whole)
        keys, values = parts
        found_keys, found_values = cache.all()
        assert_close(found_keys[-rows:], keys[-rows:])
        assert_close(found_keys, keys)
        assert_close(found_values, values)


def test_a_row_takes_the_place_of_one_that_left_and_no_room_is_made_for_it():
    cache, keys, _ = filled(3, 5)
    cache.join(*filled(1, 5, 1)[1:], is_left=True)
    room = cache._buffer
    keys = cache.all()[0].clone()
    for seed in range(20):
        cache.move(3, torch.tensor([1]), torch.tensor([3]))  # the second leaves
        assert_close(cache.all()[0], keys[[0, 3, 2]])
        _, *added = filled(1, 2, 2 + seed)
        cache.join(*added, is_left=True)
        keys = torch.cat((keys[[0, 3, 2]], torch.nn.functional.pad(added[0], (0, 0, 3, 0))))
        assert_close(cache.all()[0], keys)
    assert cache._buffer is room


def test_a_cache_whose_old_slots_are_dropped_does_not_grow():
    cache, _, _ = filled(2, 10)
    for step in range(500):
        new = torch.full((2, 2, 1, 4), float(step))
        cache.append(new, -new)
        cache.trim(before=1)
    assert cache.length == 10 and cache._buffer.size(3) <= 64
    found_keys, found_values = cache.all()
    assert found_keys[0, 0, :, 0].tolist() == list(range(490, 500)) and torch.equal(found_values, -found_keys)


def test_slots_are_gathered_by_row():
    cache, keys, values = filled(3, 6)
    cache.trim(before=1)
    slots = torch.tensor([[0, 2], [1, 4], [3, 4]])
    cache.gather(slots)
    for found, all_slots in zip(cache.all(), (keys, values), strict=True):
        expected = [each[:, 1 + chosen] for each, chosen in zip(all_slots, slots, strict=True)]
        assert_close(found, torch.stack(expected))
    more = torch.randn(3, 2, 1, 4)
    assert_close(cache.append(more, more)[0][:, :, -1:], more)
