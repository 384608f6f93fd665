"""Items made ahead of time are the same items, and so are the errors."""

import itertools
import threading

import pytest

from regard.data.prefetch import Prefetcher


def test_items_come_in_their_order():
    assert list(Prefetcher(iter(range(100)), 3)) == list(range(100))


def test_no_more_are_made_than_asked_for():
    made = []
    items = Prefetcher((made.append(number) or number for number in itertools.count()), 2)
    assert [next(items) for _ in range(5)] == [0, 1, 2, 3, 4]
    items.close()
    assert len(made) <= 5 + 2 + 1  # taken, waiting, and one in the hand


def test_close_ends_the_thread():
    items = Prefetcher(itertools.count(), 2)
    items.close()
    assert "ahead" not in {thread.name for thread in threading.enumerate()}


def test_an_error_is_raised_where_the_item_is_asked_for():
    def failing():
        yield 1
        raise ValueError("broken")

    items = Prefetcher(failing(), 4)
    assert next(items) == 1
    for _ in range(2):
        with pytest.raises(ValueError, match="broken"):
            next(items)
