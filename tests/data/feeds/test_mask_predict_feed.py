"""Which words are masked: how many, which ones, and what it depends on."""

import numpy as np
import pytest
import torch

from regard.data.encoding.batches import NO_LABEL, EncodedPairs
from regard.data.encoding.sequences import Sequences
from regard.data.feeds.feed import PairFeed
from regard.data.feeds.mask_predict import MaskedPairs
from regard.data.feeds.sampler import Position
from small import random_pairs


def masked_of(pairs, seed, epoch, rows):
    """Return the ids of masked places by row, as sets."""
    batch = MaskedPairs(pairs, seed, epoch).batch(np.asarray(rows))
    width = batch.target.size(1)
    places = [divmod(place, width) for place in batch.label_positions.tolist()]
    return [frozenset(column for row, column in places if row == number) for number in range(len(rows))]


def test_a_batch_shows_what_is_known_and_asks_for_the_rest():
    pairs = random_pairs(50)
    rows = np.arange(50)
    batch = MaskedPairs(pairs, 1, 0).batch(rows)
    said, token_mask = pairs.target.padded(rows, 0)
    restored = batch.target.clone()
    restored.view(-1)[batch.label_positions] = batch.labels
    assert torch.equal(restored, said) and torch.equal(batch.target_mask, token_mask)
    assert (batch.target.view(-1)[batch.label_positions] == pairs.start).all()
    assert (batch.target == pairs.start).sum() == batch.label_count == len(batch.labels)
    assert batch.lengths.tolist() == pairs.target.lengths.tolist() and batch.length_count == 50


def test_one_word_to_all_are_masked_and_never_the_end():
    pairs = EncodedPairs(Sequences.of([[5, 3]] * 4000), Sequences.of([[6, 7, 8, 9, 3]] * 4000), 0, 0, 2)
    found = masked_of(pairs, 1, 0, range(4000))
    counts = np.bincount([len(each) for each in found], minlength=5)
    assert counts[0] == 0 and len(counts) == 5 and (abs(counts[1:] - 1000) < 120).all()
    places = np.bincount([place for each in found for place in each], minlength=5)
    assert places[4] == 0 and (abs(places[:4] - 2500) < 150).all()


def test_masks_follow_the_seed_the_epoch_and_the_pair_and_nothing_else():
    pairs, rows = random_pairs(60), [3, 17, 41, 8]
    found = masked_of(pairs, 1, 0, rows)
    assert masked_of(pairs, 1, 0, rows) == found
    assert [masked_of(pairs, 1, 0, [row])[0] for row in rows] == found  # whatever stands beside it
    assert masked_of(pairs, 1, 1, range(60)) != masked_of(pairs, 1, 0, range(60))
    assert masked_of(pairs, 2, 0, range(60)) != masked_of(pairs, 1, 0, range(60))


def test_an_update_is_masked_the_same_however_it_is_cut_and_from_wherever_it_is_gone_on():
    pairs = random_pairs(120)

    def updates(limit, position, count):
        feed = PairFeed(lambda epoch: MaskedPairs(pairs, 5, epoch), 200, limit, seed=5)
        stream = feed.updates(position)
        return [next(stream).micro_batches for _ in range(count)]

    def asked(batches):
        found = []
        for batch in batches:
            for row in range(len(batch.source)):
                kept = [part[row][part[row] != 0].tolist() for part in (batch.source, batch.target)]
                found.append(kept)
        return sorted(found)

    whole, cut = updates(10_000, Position(), 8), updates(60, Position(), 8)
    assert [asked(each) for each in whole] == [asked(each) for each in cut]
    assert max(map(len, cut)) > max(map(len, whole))
    assert [asked(each) for each in updates(10_000, Position(0, 3), 5)] == [asked(each) for each in whole[3:]]


def test_a_target_without_words_has_nothing_to_mask():
    pairs = EncodedPairs(Sequences.of([[5, 3], [5, 3]]), Sequences.of([[3], [6, 3]]), 0, 0, 2)
    batch = MaskedPairs(pairs, 1, 0).batch(np.arange(2))
    assert batch.label_positions.tolist() == [2] and batch.labels.tolist() == [6] and batch.lengths.tolist() == [1, 2]


@pytest.mark.parametrize(("limit", "width"), [(None, 12), (11, 11)])
def test_rounded_shapes_add_no_label_and_no_length(limit, width):
    pairs = random_pairs(60)
    batch = MaskedPairs(pairs, 1, 0).batch(np.flatnonzero(pairs.target.lengths <= 11)[:19])
    grown = batch.padded_to_bucket(limit)
    B, _, T, N = grown.shape
    assert (20, width) == (B, T) and batch.label_count <= N
    assert grown.lengths.tolist() == [*batch.lengths.tolist(), NO_LABEL]
    asked = grown.labels != NO_LABEL
    assert grown.labels[asked].tolist() == batch.labels.tolist()
    assert (grown.target.view(-1)[grown.label_positions[asked]] == 2).all()
    assert grown.target_mask.any(1).all() and grown.source_mask.any(1).all()
    assert (grown.label_count, grown.length_count) == (batch.label_count, 19)
