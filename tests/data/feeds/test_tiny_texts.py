"""However little text there is, every feed gives updates that something can be made of, and never runs for ever."""

import itertools
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marked import told_apart
from regard.data.feeds.char_words import CharWordFeed, WordLookup
from regard.data.feeds.feed import PairFeed
from regard.data.feeds.mask_predict import MaskedPairs
from regard.data.feeds.masked_lm import MaskedFeed, Stage, fixed_batches, has_masked_tokens
from regard.data.feeds.masking import Masker
from regard.data.feeds.sampler import Position
from regard.data.feeds.sentence_pairs import Marks, SentencePairSampler
from regard.data.feeds.windows import IdStream, WindowFeed
from regard.data.settings.masking import MaskingSettings
from regard.errors import DataError
from regard.text.char_tokenizer import spelling_tokenizer, word_tokenizer
from small import random_pairs

UPDATES = 40
sizes = st.lists(st.lists(st.integers(1, 30), min_size=1, max_size=4), min_size=1, max_size=8)


def first_updates(feed):
    """Return some updates, and check that each goes on where the one before ended."""
    found = list(itertools.islice(feed.updates(Position()), UPDATES))
    for one, other in itertools.pairwise(found):
        (again,) = itertools.islice(feed.updates(one.following), 1)
        assert again.following == other.following
    return found


@settings(max_examples=25, deadline=None)
@given(sizes, st.sampled_from([8, 12, 32, 128]), st.integers(1, 60), st.booleans(), st.booleans(), st.integers(0, 99))
def test_every_update_of_masked_sequences_holds_one(sizes, length, tokens, has_pairs, is_one_document, seed):
    with tempfile.TemporaryDirectory() as folder:
        corpus, tokenizer = told_apart(Path(folder), sizes)
        pairs = SentencePairSampler(corpus, Marks.of(tokenizer), length, has_pairs, 0.1, is_one_document)
        masker = Masker(MaskingSettings(), tokenizer)
        assert has_masked_tokens(pairs, masker) and 0 <= pairs.pair_fraction <= 1
        for update in first_updates(MaskedFeed([Stage(pairs)], masker, tokens, 10**6, seed)):
            assert sum(batch.label_count for batch in update.micro_batches) >= 1 and update.tokens >= 3
        assert sum(batch.label_count for batch in fixed_batches(pairs, masker, length)) >= 1


def test_an_update_whose_windows_hold_no_sentence_takes_the_next_one(tmp_path):
    """Whole documents belong to the window they begin in, so the next window may hold nothing at all."""
    corpus, tokenizer = told_apart(tmp_path, [[20, 20]] * 12, 10**6)
    maker = SentencePairSampler(corpus, Marks.of(tokenizer), 48, True)
    nothing = maker.rows(np.array([len(corpus) - 1]), np.zeros(1, np.uint64))
    assert len(nothing.keys) == 0 and nothing.cu_seqlens.tolist() == [0] and len(nothing.tokens) == 0


def test_a_text_without_a_word_that_is_known_is_told_apart(tmp_path):
    corpus, tokenizer = told_apart(tmp_path, [[3, 3]] * 4, 10**6)
    masker, pairs = Masker(MaskingSettings(), tokenizer), SentencePairSampler(corpus, Marks.of(tokenizer), 16, False)
    masker._is_special[:] = True  # as if all were unknown
    assert not has_masked_tokens(pairs, masker)
    for update in first_updates(MaskedFeed([Stage(pairs)], masker, 1, 10**6, 1)):
        assert update.tokens and sum(batch.label_count for batch in update.micro_batches) == 0


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 40), st.integers(1, 64), st.integers(1, 100), st.integers(1, 100), st.integers(0, 9), st.booleans()
)
def test_windows_of_any_text_have_labels(count, length, tokens, limit, seed, shares):
    stream = IdStream(np.arange(count))
    if count < 2:
        with pytest.raises(DataError, match=f"^The text has {count} tokens, too few for a next token; add text"):
            WindowFeed(stream, length, tokens, limit, seed)
        return
    for update in first_updates(WindowFeed(stream, length, tokens, limit, seed)):
        assert sum(batch.label_count for batch in update.micro_batches) >= 1


TOKENIZER = spelling_tokenizer()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "bb", "the", "x" * 70, "東京"]), min_size=1, max_size=12),
    st.integers(8, 40),
    st.integers(1, 90),
    st.integers(0, 9),
)
def test_windows_of_spelled_words_are_whole_whatever_their_length(words, length, tokens, seed):
    stream = IdStream(np.array([*TOKENIZER.encode(" ".join(words)).ids, TOKENIZER.eos_id]))
    book = WordLookup(word_tokenizer(["a", "the"]), 20)
    for update in first_updates(CharWordFeed(stream, book, length, tokens, 100, seed)):
        for batch in update.micro_batches:
            assert batch.words.shape[0] == len(batch.cu_seqlens) - 1 and (batch.words[:, 0] >= 0).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 9), st.integers(1, 60), st.integers(1, 60), st.booleans(), st.booleans())
def test_pairs_are_all_seen_however_small_an_update_is(count, tokens, limit, counts_examples, is_masked):
    pairs = random_pairs(count)
    corpus = lambda epoch: MaskedPairs(pairs, 1, epoch) if is_masked else pairs
    feed = PairFeed(corpus, tokens, limit, 1, counts_examples=counts_examples)
    seen = sum(
        batch.source.size(0)
        for update in itertools.islice(feed.updates(Position()), feed.updates_in(0))
        for batch in update.micro_batches
    )
    assert seen == count
    assert all(update.micro_batches for update in first_updates(feed))
