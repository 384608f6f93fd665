import itertools

import numpy as np
import torch

from regard.data.encoding.batches import EncodedPairs
from regard.data.encoding.sequences import Sequences
from regard.data.feeds.feed import PairFeed
from regard.data.feeds.sampler import Position, micro_batches, plan_updates


def lengths(count, seed=0):
    draw = np.random.default_rng(seed)
    target = draw.integers(2, 40, count)
    return np.maximum(1, target + draw.integers(-3, 4, count)), target


def corpus(count=500, seed=0):
    source, target = lengths(count, seed)
    make = lambda sizes, first: Sequences.of([[first + row % 7] * (size - 1) + [3] for row, size in enumerate(sizes)])
    return EncodedPairs(make(source, 4), make(target, 12), 0, 0, 2)


def test_an_epoch_holds_every_example_once():
    source, target = lengths(5000)
    plan = plan_updates(source, target, 512, seed=1, epoch=0)
    assert sorted(np.concatenate(plan).tolist()) == list(range(5000))


def test_updates_hold_about_as_many_target_tokens_as_asked_for():
    source, target = lengths(5000)
    sizes = [int(target[rows].sum()) for rows in plan_updates(source, target, 512, seed=1, epoch=0)]
    assert all(512 - 60 < size < 512 + 60 for size in sizes)


def test_updates_hold_examples_of_like_length_and_padding_stays_low():
    source, target = lengths(5000)
    plan = plan_updates(source, target, 512, seed=1, epoch=0)
    padded = sum(len(rows) * target[rows].max() for rows in plan)
    assert padded < 1.05 * target.sum()


def test_plans_follow_seed_and_epoch_and_nothing_else():
    source, target = lengths(1000)
    plan = lambda seed, epoch: [rows.tolist() for rows in plan_updates(source, target, 256, seed, epoch)]
    assert plan(1, 0) == plan(1, 0)
    assert plan(1, 0) != plan(1, 1) and plan(1, 0) != plan(2, 0)


def test_updates_come_in_no_order_of_length():
    source, target = lengths(5000)
    means = [target[rows].mean() for rows in plan_updates(source, target, 512, seed=1, epoch=0)]
    assert abs(np.corrcoef(means, np.arange(len(means)))[0, 1]) < 0.4


def test_micro_batches_fit_and_lose_nothing():
    source, target = lengths(200)
    rows = np.arange(200)
    for limit in (50, 300, 10**9):
        parts = micro_batches(rows, source, target, limit)
        assert sorted(np.concatenate(parts).tolist()) == list(range(200))
        for part in parts:
            assert len(part) == 1 or len(part) * (source[part].max() + target[part].max()) <= limit


def test_a_batch_is_padded_shifted_and_marked():
    pairs = EncodedPairs(Sequences.of([[5, 6, 3], [7, 3]]), Sequences.of([[8, 3], [9, 10, 11, 3]]), 0, 0, 2)
    batch = pairs.batch(np.array([0, 1]))
    assert batch.source.tolist() == [[5, 6, 3], [7, 3, 0]]
    assert batch.source_mask.tolist() == [[True] * 3, [True, True, False]]
    assert batch.target.tolist() == [[2, 8, 3, 0], [2, 9, 10, 11]]
    assert batch.target_mask.tolist() == [[True, True, False, False], [True] * 4]
    assert batch.labels.tolist() == [8, 3, 9, 10, 11, 3]
    assert batch.label_positions.tolist() == [0, 1, 4, 5, 6, 7]


def firsts(feed, position, count):
    return list(itertools.islice(feed.updates(position), count))


def same(one, other):
    return all(
        torch.equal(a.source, b.source) and torch.equal(a.labels, b.labels)
        for a, b in zip(one.micro_batches, other.micro_batches, strict=True)
    )


def test_a_feed_goes_on_from_any_position_with_nothing_replayed():
    pairs = corpus()
    feed = PairFeed(lambda epoch: pairs, 512, 10**9, seed=1)
    whole = firsts(feed, Position(), 60)  # beyond one epoch
    assert whole[-1].following.epoch >= 1
    for stop in (1, 7, 21, 40):
        rest = firsts(feed, whole[stop - 1].following, 60 - stop)
        assert all(same(one, other) for one, other in zip(whole[stop:], rest, strict=True))


def test_the_micro_batch_limit_changes_no_update():
    pairs = corpus()
    for limit in (100, 1000):
        feed = PairFeed(lambda epoch: pairs, 512, limit, seed=1)
        whole = PairFeed(lambda epoch: pairs, 512, 10**9, seed=1)
        for small, large in zip(firsts(feed, Position(), 5), firsts(whole, Position(), 5), strict=True):
            count = sum(batch.labels.numel() for batch in small.micro_batches)
            assert count == large.micro_batches[0].labels.numel()
            assert small.following == large.following


def test_processes_share_an_update_without_overlap():
    pairs = corpus()
    feed = PairFeed(lambda epoch: pairs, 512, 200, seed=1)
    whole = next(feed.updates(Position()))
    shares = [next(feed.updates(Position(), rank, 3)) for rank in range(3)]
    assert sum(len(share.micro_batches) for share in shares) == len(whole.micro_batches)
    total = sum(batch.labels.numel() for share in shares for batch in share.micro_batches)
    assert total == sum(batch.labels.numel() for batch in whole.micro_batches)
