"""Updates of masked sequences follow from (seed, epoch, window) alone, whatever they are cut into."""

import itertools

import numpy as np
import pytest
import torch

from marked import drawn_sizes, told_apart, whereabouts
from regard.data.encoding.batches import NO_LABEL
from regard.data.feeds.masked_lm import MaskedFeed, Stage, cut_rows, fixed_batches
from regard.data.feeds.masking import Masker
from regard.data.feeds.sampler import Position
from regard.data.feeds.sentence_pairs import Marks, SentencePairSampler
from regard.data.settings.masking import MaskingSettings

BEGINNING = Position()


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    sizes = [*drawn_sizes(200), [11] * 90]
    return told_apart(tmp_path_factory.mktemp("feed"), sizes, 3000)


def feed(told, lengths=((64, None),), tokens=700, limit=10**9, seed=1, has_pairs=True, workers=0):
    corpus, tokenizer = told
    made = lambda length: SentencePairSampler(corpus, Marks.of(tokenizer), length, has_pairs, 0.1)
    stages = [Stage(made(length), updates) for length, updates in lengths]
    return MaskedFeed(stages, Masker(MaskingSettings(), tokenizer), tokens, limit, seed, workers)


def firsts(feed, count, position=BEGINNING, **share):
    found = feed.updates(position, **share)
    updates = list(itertools.islice(found, count))
    found.close()
    return updates


def rows(update):
    """Return each sequence of an update, with what is to be guessed in it, in an order of their own."""
    found = []
    for batch in update.micro_batches:
        bounds = batch.cu_seqlens.tolist()
        for row, (begin, end) in enumerate(itertools.pairwise(bounds)):
            inside = (batch.label_positions >= begin) & (batch.label_positions < end)
            found.append(
                (
                    batch.tokens[begin:end].tolist(),
                    batch.segments[begin:end].tolist(),
                    (batch.label_positions[inside] - begin).tolist(),
                    batch.labels[inside].tolist(),
                    int(batch.is_next[row]),
                )
            )
    return sorted(found)


def test_updates_have_about_the_tokens_that_were_asked_for(told):
    for tokens in (300, 700, 3000):
        each = feed(told, tokens=tokens)
        sizes = [update.tokens for update in firsts(each, each.updates_in(0))]
        assert np.mean(sizes[:-1]) == pytest.approx(tokens, rel=0.12)
        batches = [sum(batch.tokens.numel() for batch in update.micro_batches) for update in firsts(each, 3)]
        assert batches == sizes[:3]


def test_a_feed_goes_on_from_any_position(told):
    whole = firsts(feed(told), 40)
    assert whole[-1].following.epoch >= 1
    for place in (1, 7, 20, 39):
        (update,) = firsts(feed(told), 1, whole[place - 1].following)
        assert rows(update) == rows(whole[place]) and update.following == whole[place].following


def test_epochs_and_seeds_draw_anew(told):
    one, other = feed(told), feed(told, seed=2)
    assert rows(firsts(one, 1)[0]) != rows(firsts(other, 1)[0])
    epochs = [{str(each[0]) for each in rows_of_epoch(one, number)} for number in (0, 1)]
    assert len(epochs[0] & epochs[1]) < 0.1 * len(epochs[0])


def rows_of_epoch(each, number):
    return [row for update in firsts(each, each.updates_in(number), Position(number, 0)) for row in rows(update)]


@pytest.mark.parametrize("has_pairs", [True, False])
def test_an_epoch_reads_nearly_everything(told, has_pairs):
    where = whereabouts(told[1])
    seen = set()
    for tokens, _, places, labels, _ in rows_of_epoch(feed(told, has_pairs=has_pairs), 0):
        for place, label in zip(places, labels, strict=True):
            tokens[place] = label
        seen |= {where[each] for each in tokens} - {None}
    everything = {each for each in where if each is not None}
    assert len(seen) > (0.75 if has_pairs else 0.9) * len(everything)


@pytest.mark.parametrize("limit", [80, 200, 500])
def test_micro_batches_are_the_same_sequences(told, limit):
    for small, large in zip(firsts(feed(told, limit=limit), 15), firsts(feed(told), 15), strict=True):
        assert rows(small) == rows(large) and small.following == large.following
        sizes = [batch.tokens.numel() for batch in small.micro_batches]
        assert max(sizes) <= limit and small.divisible == max(sizes) and len(large.micro_batches) == 1


@pytest.mark.parametrize("world", [2, 3])
def test_processes_share_an_update_without_overlap(told, world):
    whole = firsts(feed(told), 6)
    shares = [firsts(feed(told), 6, rank=rank, world=world) for rank in range(world)]
    for one, *parts in zip(whole, *shares, strict=True):
        assert rows(one) == sorted(row for part in parts for row in rows(part))
        assert {part.following for part in parts} == {one.following} and {part.tokens for part in parts} == {
            one.tokens
        }


def test_workers_change_nothing(told):
    for one, other in zip(firsts(feed(told), 12), firsts(feed(told, workers=2), 12), strict=True):
        assert rows(one) == rows(other) and one.following == other.following


@pytest.mark.parametrize("early", [1, 5, 30])
def test_short_sequences_come_first_and_then_long_ones(told, early):
    both = lambda: feed(told, ((24, early), (64, None)))
    whole = firsts(both(), early + 6)
    longest = [max(batch.max_seqlen for batch in update.micro_batches) for update in whole]
    assert max(longest[:early]) <= 24 < min(longest[early:])
    assert whole[early - 1].following.index == 0  # a stage that ends, ends its epoch
    for place in range(early - 1, early + 4):
        position = whole[place - 1].following if place else BEGINNING
        (update,) = firsts(both(), 1, position)
        assert rows(update) == rows(whole[place]) and update.following == whole[place].following
    assert rows(firsts(feed(told, ((24, 0), (64, None))), 1)[0]) == rows(firsts(feed(told), 1)[0])


def test_windows_that_hold_nothing_are_passed_over(tmp_path):
    told = told_apart(tmp_path, [[9, 9, 9]] * 30, 10**7)
    each = feed(told, ((32, None),), tokens=1)
    assert all(len(rows(update)) >= 1 for update in firsts(each, 3 * each.updates_in(0)))


def test_evaluation_is_always_the_same(told):
    corpus, tokenizer = told
    maker, masker = SentencePairSampler(corpus, Marks.of(tokenizer), 64, True), Masker(MaskingSettings(), tokenizer)

    class Together:
        def __init__(self, limit, count=None):
            self.micro_batches = list(fixed_batches(maker, masker, limit, count))

    whole = rows(Together(10**6))
    assert whole == rows(Together(300)) == rows(Together(64))
    beginning = rows(Together(300, 600))
    assert 0 < len(beginning) < len(whole) and all(row in whole for row in beginning)


def test_rounding_up_adds_sequences_of_their_own_without_labels(told):
    (update,) = firsts(feed(told, tokens=2000), 1)
    batch = update.micro_batches[0]
    grid = batch.padded_to_bucket(512)
    N, R, M, _ = batch.shape
    assert grid.shape[0] >= N and grid.shape[1] >= R and grid.shape[3] == 64
    sizes = grid.cu_seqlens.diff()
    assert int(grid.cu_seqlens[-1]) == grid.tokens.numel() == grid.positions.numel() and sizes.min() >= 1
    assert sizes.max() <= grid.max_seqlen and torch.equal(grid.cu_seqlens[: R + 1], batch.cu_seqlens)
    assert grid.positions[N:].max() < 64 and (grid.positions[grid.cu_seqlens[:-1].long()] == 0).all()
    assert (grid.labels[M:] == NO_LABEL).all() and (grid.is_next[R:] == NO_LABEL).all()
    assert (grid.label_count, grid.pair_count) == (batch.label_count, batch.pair_count)
    assert grid.padded_to_bucket(512).shape == grid.shape  # what is on the grid stays as it is
    assert batch.padded_to_bucket(40).max_seqlen == batch.max_seqlen


def test_few_shapes_occur(told):
    each = feed(told, tokens=2000)
    shapes = {update.micro_batches[0].padded_to_bucket(512).shape for update in firsts(each, 60)}
    assert len(shapes) < 25


def test_parts_stay_within_the_limit_where_they_can():
    assert cut_rows(np.array([5, 5, 5, 5]), 10) == [(0, 2), (2, 4)]
    assert cut_rows(np.array([50, 3, 2]), 10) == [(0, 1), (1, 3)]
    assert len(cut_rows(np.full(7, 4), 100, world=3)) == 3
    draw = np.random.default_rng(0)
    for _ in range(50):
        sizes = draw.integers(1, 60, draw.integers(1, 40))
        parts = cut_rows(sizes, 64)
        assert [first for first, _ in parts[1:]] == [last for _, last in parts[:-1]] and parts[-1][1] == len(sizes)
        assert all(sizes[first:last].sum() <= 64 for first, last in parts)
