"""Windows are drawn from (seed, epoch) alone; every token comes once an epoch, and once under a sliding window."""

import itertools

import numpy as np
import pytest
import torch

from regard.data.encoding.batches import NO_LABEL
from regard.data.feeds.sampler import Position
from regard.data.feeds.windows import IdStream, WindowBatch, WindowFeed, sliding_windows
from regard.errors import ConfigError, DataError

BEGINNING = Position()


def feed(count=5003, length=32, tokens=256, limit=10**9, seed=1):
    return WindowFeed(IdStream(np.arange(count)), length, tokens, limit, seed)


def firsts(feed, count, position=BEGINNING, **share):
    return list(itertools.islice(feed.updates(position, **share), count))


def epoch(feed, number=0):
    return firsts(feed, feed.updates_in(number), Position(number, 0))


def labels(update):
    return torch.cat([batch.labels.flatten() for batch in update.micro_batches]).tolist()


def same(one, other):
    return all(
        torch.equal(a.tokens, b.tokens) and torch.equal(a.labels, b.labels)
        for a, b in zip(one.micro_batches, other.micro_batches, strict=True)
    )


def test_a_window_is_read_and_its_labels_follow():
    for update in epoch(feed()):
        for batch in update.micro_batches:
            assert torch.equal(batch.labels, batch.tokens + 1) and batch.label_count == batch.labels.numel()
            assert batch.shape[1] == 32


@pytest.mark.parametrize("number", [0, 1, 7])
def test_an_epoch_says_every_token_once_but_for_the_edges(number):
    said = sorted(label for update in epoch(feed(), number) for label in labels(update))
    assert said == list(range(said[0], said[-1] + 1))
    assert said[0] <= 32 and said[-1] >= 5002 - 32


def test_epochs_differ_in_order_and_in_where_windows_begin():
    starts = [
        [int(batch.tokens[0, 0]) for update in epoch(feed(), number) for batch in update.micro_batches]
        for number in range(4)
    ]
    assert len({start[0] % 32 for start in starts}) > 1
    assert all(start != sorted(start) for start in starts)
    assert starts[0] != [int(batch.tokens[0, 0]) for update in epoch(feed(seed=2)) for batch in update.micro_batches]


def test_over_epochs_the_edges_are_said_too():
    small = feed(count=50, length=20)
    said = {label for number in range(60) for update in epoch(small, number) for label in labels(update)}
    assert said == set(range(1, 50))


def test_updates_hold_as_many_tokens_as_asked_for_but_the_last_about():
    sizes = [len(labels(update)) for update in epoch(feed())]
    assert set(sizes[:-1]) == {256} and 128 <= sizes[-1] <= 384
    assert all(len(labels(update)) == 32 for update in epoch(feed(tokens=1)))  # a window at least


def test_a_feed_goes_on_from_any_position_with_nothing_replayed():
    whole = firsts(feed(), 60)  # beyond one epoch
    assert whole[-1].following.epoch >= 1
    for stop in (1, 7, 20, 21, 40):
        rest = firsts(feed(), 60 - stop, whole[stop - 1].following)
        assert all(same(one, other) for one, other in zip(whole[stop:], rest, strict=True))


def test_the_micro_batch_limit_changes_no_update():
    for limit in (1, 64, 100):
        for small, large in zip(firsts(feed(limit=limit), 30), firsts(feed(), 30), strict=True):
            assert labels(small) == labels(large) and small.following == large.following
            assert all(batch.tokens.numel() <= max(limit, 32) for batch in small.micro_batches)
            assert small.divisible <= limit and large.divisible == large.micro_batches[0].tokens.numel()


@pytest.mark.parametrize("world", [2, 3, 11])
def test_processes_share_an_update_without_overlap(world):
    for limit in (64, 10**9):
        whole = firsts(feed(limit=limit), 25)
        shares = [firsts(feed(limit=limit), 25, rank=rank, world=world) for rank in range(world)]
        for one, *parts in zip(whole, *shares, strict=True):
            assert sorted(labels(one)) == sorted(
                label for part in parts if part.micro_batches for label in labels(part)
            )
            assert {part.following for part in parts} == {one.following}
            assert len({part.divisible for part in parts}) == 1


def test_a_text_shorter_than_a_window_is_one_shorter_window():
    small = feed(count=10)
    assert small.length == 9 and small.updates_in(0) == 1
    assert [labels(update) for update in firsts(small, 2)] == [list(range(1, 10))] * 2
    with pytest.raises(DataError, match="The text has 1 tokens, too few for a next token; add text."):
        feed(count=1)


def test_a_stream_of_any_size_is_drawn_from_at_once():
    class Vast:
        def __len__(self):
            return 10**13

        def read(self, begin, end):
            return np.arange(begin, end)

    vast = WindowFeed(Vast(), 1024, 2048, 10**9, 1)
    middle = vast.updates_in(0) // 2
    update = next(vast.updates(Position(0, middle)))
    assert update.following == Position(0, middle + 1) and update.micro_batches[0].shape == (2, 1024)


def test_rounding_up_adds_no_label():
    batch = WindowBatch(torch.ones(17, 6, dtype=torch.long), torch.ones(17, 6, dtype=torch.long), 102)
    grid = batch.padded_to_bucket()
    assert grid.shape == (18, 8) and grid.label_count == 102
    assert int((grid.labels != NO_LABEL).sum()) == 102 and batch.padded_to_bucket(6).shape == (18, 6)
    assert set(grid.to(torch.device("cpu")).tensors) == {"tokens", "labels"}


@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 100, 101])
@pytest.mark.parametrize("stride", [1, 5, 16])
@pytest.mark.parametrize("limit", [1, 40, 10**6])
def test_a_sliding_window_says_every_token_once_with_enough_before_it(count, stride, limit):
    ids = np.arange(count) + 7
    said = []
    for batch in sliding_windows(IdStream(ids), 3, 16, stride, limit):
        for tokens, labels in zip(batch.tokens.tolist(), batch.labels.tolist(), strict=True):
            for place, label in enumerate(labels):
                if label == NO_LABEL:
                    continue
                said.append(label)
                assert tokens[place] == (label - 1 if label > 7 else 3)
                assert place + 1 >= min(label - 6, 16 - stride + 1)
        assert batch.label_count == int((batch.labels != NO_LABEL).sum())
    assert said == ids.tolist()


def test_a_stride_past_the_window_is_refused():
    with pytest.raises(ConfigError, match="stride: 17 is not between 1 and 16, the window length."):
        next(sliding_windows(IdStream(np.arange(100)), 3, 16, 17, 100))
