"""Pairs hold whole sentences in order; half of them meet, the others never come from one document."""

from itertools import pairwise

import numpy as np
import pytest

from marked import drawn_sizes, texts_of, told_apart, whereabouts
from regard.data.counter_rng import key_of, keys_at
from regard.data.encoding.batches import NO_LABEL
from regard.data.feeds.sentence_pairs import FOLLOWS, IS_OTHER, Marks, SentencePairSampler

SIZES = [*drawn_sizes(150), [11] * 90, *drawn_sizes(150, 1), [3, 4] * 60]


@pytest.fixture(scope="module", params=[300, 10**7])
def told(tmp_path_factory, request):
    return told_apart(tmp_path_factory.mktemp("pairs"), SIZES, request.param)


def windows(maker, offset=0, key=1, some=None):
    count = -(-(len(maker.corpus) + offset) // maker.window)
    numbers = np.arange(count) if some is None else some
    return maker.rows(numbers * maker.window - offset, keys_at(key_of(key), numbers))


def places(ids, where):
    """Return where words stand; full stops are left out."""
    return [where[each] for each in ids if where[each] is not None]


def is_stretch(found):
    """Tell whether words stand one behind the other in one document."""
    return all(
        (one[0], one[1], one[2] + 1) == other or ((one[0], one[1] + 1) == other[:2] and other[2] == 0)
        for one, other in pairwise(found)
    )


@pytest.mark.parametrize("length", [24, 64, 200])
def test_texts_are_stretches_of_documents_and_pairs_are_what_they_are_called(told, length):
    corpus, tokenizer = told
    rows, where = windows(SentencePairSampler(corpus, Marks.of(tokenizer), length, True)), whereabouts(tokenizer)
    assert np.diff(rows.cu_seqlens).max() <= length
    assert np.array_equal(
        rows.positions, np.concatenate([np.arange(size) for size in np.diff(rows.cu_seqlens).tolist()])
    )
    kinds = {FOLLOWS: 0, IS_OTHER: 0, NO_LABEL: 0}
    for (first, second), label in zip(texts_of(rows, tokenizer), rows.is_next.tolist(), strict=True):
        one, other = places(first, where), places(second, where)
        assert is_stretch(one) and is_stretch(other) and (one or first)
        kinds[label] += 1
        if label == FOLLOWS:
            assert is_stretch(one + other)
            assert not other or other[0][2] == 0  # it begins with a sentence
        elif label == IS_OTHER and one and other:
            assert one[0][0] != other[0][0]
        elif label == NO_LABEL:
            assert not second
    pairs = kinds[FOLLOWS] + kinds[IS_OTHER]
    assert pairs > 0.5 * sum(kinds.values())
    assert abs(kinds[IS_OTHER] / pairs - 0.5) < 3 * 0.5 / pairs**0.5


def test_another_text_is_as_long_as_the_one_it_stands_for(tmp_path):
    corpus, tokenizer = told_apart(tmp_path, [[8] * 40 for _ in range(40)], 10**7)
    rows = windows(SentencePairSampler(corpus, Marks.of(tokenizer), 64, True))
    sizes = {
        label: np.mean(
            [
                len(second)
                for (_, second), kind in zip(texts_of(rows, tokenizer), rows.is_next.tolist(), strict=True)
                if kind == label
            ]
        )
        for label in (FOLLOWS, IS_OTHER)
    }
    assert abs(sizes[FOLLOWS] - sizes[IS_OTHER]) < 3


@pytest.mark.parametrize("offset", [0, 13, 60])
def test_every_sentence_begins_in_one_window(told, offset):
    corpus, tokenizer = told
    rows = windows(SentencePairSampler(corpus, Marks.of(tokenizer), 64, False), offset)
    where = whereabouts(tokenizer)
    begun = [place[:2] for first, _ in texts_of(rows, tokenizer) for place in places(first, where) if place[2] == 0]
    expected = [
        (number, sentence) for number, sizes in enumerate(SIZES) for sentence, words in enumerate(sizes) if words > 1
    ]
    assert len(set(begun)) == len(begun)
    assert len(begun) > 0.97 * len(expected)  # what does not fit behind the rest waits for another epoch


def test_without_pairs_sequences_are_full_and_go_on_across_documents(told):
    corpus, tokenizer = told
    rows = windows(SentencePairSampler(corpus, Marks.of(tokenizer), 64, False))
    assert (rows.is_next == NO_LABEL).all() and not rows.segments.any()
    inside = [first for first, _ in texts_of(rows, tokenizer) if tokenizer.eos_id in first]
    assert len(inside) > 0.3 * len(rows.keys) and all(first[-1] != tokenizer.eos_id for first in inside)
    assert np.median(np.diff(rows.cu_seqlens)) > 50
    assert tokenizer.pad_id not in rows.tokens


def test_without_pairs_each_sequence_may_hold_one_document_and_no_label(told):
    corpus, tokenizer = told
    apart = SentencePairSampler(corpus, Marks.of(tokenizer), 64, False, is_one_document=True)
    rows, where = windows(apart), whereabouts(tokenizer)
    assert set(rows.is_next.tolist()) == {NO_LABEL} and np.diff(rows.cu_seqlens).max() <= 64
    documents = [{place[0] for place in places(first, where)} for first, _ in texts_of(rows, tokenizer)]
    assert all(len(each) <= 1 for each in documents)
    assert set().union(*documents) == {each[0] for each in where if each is not None}


def test_a_document_that_fits_is_never_cut(tmp_path):
    corpus, tokenizer = told_apart(tmp_path, [[6] * 5 for _ in range(50)], 200)
    where = whereabouts(tokenizer)
    maker = SentencePairSampler(corpus, Marks.of(tokenizer), 64, True)
    for offset in (0, 17, 40):
        firsts = [places(first, where)[0] for first, _ in texts_of(windows(maker, offset), tokenizer)]
        assert firsts == [(number, 0, 0) for number in range(50)]


def test_some_sequences_are_cut_short(tmp_path):
    corpus, tokenizer = told_apart(tmp_path, [[8] * 400], 10**7)
    sizes = lambda share: np.diff(
        windows(SentencePairSampler(corpus, Marks.of(tokenizer), 64, False, share)).cu_seqlens
    )
    assert (sizes(0.0) < 50).mean() < 0.05 < 0.2 < (sizes(0.5) < 50).mean()


def test_what_a_window_holds_does_not_depend_on_the_others(told):
    corpus, tokenizer = told
    maker = SentencePairSampler(corpus, Marks.of(tokenizer), 64, True)
    whole = windows(maker, 7)
    alone = [windows(maker, 7, some=np.array([number])) for number in range(10)]
    count = sum(len(each.keys) for each in alone)
    assert np.array_equal(np.concatenate([each.tokens for each in alone]), whole.tokens[: whole.cu_seqlens[count]])
    other = windows(maker, 7, key=2)
    assert not np.array_equal(other.tokens[:200], whole.tokens[:200])


def test_one_document_has_nothing_to_be_mixed_with(tmp_path):
    corpus, tokenizer = told_apart(tmp_path, [[8] * 100], 10**7)
    rows = windows(SentencePairSampler(corpus, Marks.of(tokenizer), 64, True))
    assert (rows.is_next == NO_LABEL).all() and rows.segments.any()


def test_rows_are_selected_in_order(told):
    corpus, tokenizer = told
    rows = windows(SentencePairSampler(corpus, Marks.of(tokenizer), 64, True))
    some = rows.select(np.array([5, 0]))
    wanted = [texts_of(rows, tokenizer)[number] for number in (5, 0)]
    assert texts_of(some, tokenizer) == wanted and some.keys.tolist() == rows.keys[[5, 0]].tolist()
