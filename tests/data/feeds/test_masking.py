"""15 % of the tokens are chosen; 80 % of these are masked, 10 % become others and 10 % stay; all follow from keys."""

import numpy as np
import pytest
from pydantic import ValidationError

from marked import drawn_sizes, told_apart
from regard import miniature
from regard.data.corpus.shards import tokenize
from regard.data.counter_rng import key_of, keys_at, uniform
from regard.data.feeds.masking import Masker
from regard.data.feeds.sentence_pairs import Marks, SentencePairSampler
from regard.data.settings.masking import MaskingSettings
from regard.data.settings.text import DocumentSource
from regard.errors import ConfigError
from regard.text.settings import MaskedTextSettings, TokenizerSettings
from regard.text.training import train_tokenizer


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    stories = list(miniature.documents("train", 1000))
    tokenizer = train_tokenizer(stories, MaskedTextSettings(size=120))  # small: most words have several pieces
    place = DocumentSource(paths=("miniature:train",), max_rows=1000)
    return tokenize(place, tokenizer, tmp_path_factory.mktemp("masks"), sentences="marks"), tokenizer


def rows_of(told, key=1, count=400):
    corpus, tokenizer = told
    maker = SentencePairSampler(corpus, Marks.of(tokenizer), 128, True)
    return maker.rows(np.arange(count) * maker.window, keys_at(key_of(key), np.arange(count)))


@pytest.mark.parametrize(
    "settings", [{}, {"whole_word_masking": True}, {"mask_fraction": 0.4, "masked": 0.5, "random": 0.2}], ids=str
)
def test_shares_are_as_they_are_set(told, settings):
    wanted, rows = MaskingSettings(**settings), rows_of(told)
    found = Masker(wanted, told[1])(rows)
    text = ~np.isin(rows.tokens, list(told[1].specials))
    assert len(found.positions) / text.sum() == pytest.approx(wanted.mask_fraction, rel=0.03)
    now = found.tokens[found.positions]
    count = len(now)
    assert (now == told[1].mask_id).mean() == pytest.approx(wanted.masked, abs=4 * 0.5 / count**0.5)
    stays = 1 - wanted.masked - wanted.random + wanted.random / len(told[1].vocabulary)
    assert (now == found.labels).mean() == pytest.approx(stays, abs=4 * 0.5 / count**0.5)
    # each sequence has its share of its own
    per_row = np.diff(np.searchsorted(found.positions, rows.cu_seqlens))
    lengths = np.add.reduceat(text, rows.cu_seqlens[:-1])
    slack = 8 if wanted.whole_word_masking else 0.51
    assert (np.abs(per_row - np.maximum(1, wanted.mask_fraction * lengths)) <= slack).all() and per_row.min() >= 1


def test_nothing_but_the_chosen_changes_and_frames_are_never_chosen(told):
    rows = rows_of(told)
    found = Masker(MaskingSettings(), told[1])(rows)
    assert (np.diff(found.positions) > 0).all() and np.array_equal(found.labels, rows.tokens[found.positions])
    others = np.setdiff1d(np.arange(len(rows.tokens)), found.positions)
    assert np.array_equal(found.tokens[others], rows.tokens[others])
    assert not set(found.labels.tolist()) & told[1].specials
    assert set(found.tokens[found.positions].tolist()) & told[1].specials == {told[1].mask_id}


def test_every_token_is_chosen_as_often_as_others(told):
    """Whatever its place in a sequence and in a word."""
    rows = rows_of(told)
    for settings in (MaskingSettings(), MaskingSettings(whole_word_masking=True)):
        masker, counts = Masker(settings, told[1]), np.zeros(len(rows.tokens))
        for key in range(60):
            again = rows._replace(keys=keys_at(key_of(key, 7), np.arange(len(rows.keys))))
            counts[masker(again).positions] += 1
        text = ~np.isin(rows.tokens, list(told[1].specials))
        for place in (slice(0, 20), slice(40, 60)):
            here = text & (rows.positions >= place.start) & (rows.positions < place.stop)
            assert counts[here].mean() / 60 == pytest.approx(0.15, rel=0.06)


def test_whole_words_are_chosen_whole(told):
    rows = rows_of(told)
    found = Masker(MaskingSettings(whole_word_masking=True), told[1])(rows)
    chosen = np.zeros(len(rows.tokens), bool)
    chosen[found.positions] = True
    pieces = told[1].tokens(rows.tokens.tolist())
    inside = np.array([piece.startswith("##") for piece in pieces])
    inside[1:] &= rows.tokens[:-1] != told[1].bos_id  # a text that was cut may begin within a word
    assert inside.mean() > 0.2
    assert np.array_equal(chosen[1:][inside[1:]], chosen[:-1][inside[1:]])
    apart = Masker(MaskingSettings(), told[1])(rows)
    chosen[:] = False
    chosen[apart.positions] = True
    assert not np.array_equal(chosen[1:][inside[1:]], chosen[:-1][inside[1:]])


def test_masks_follow_from_keys_alone(told):
    masker = Masker(MaskingSettings(), told[1])
    one, same, other = (masker(rows_of(told, key)) for key in (1, 1, 2))
    assert np.array_equal(one.tokens, same.tokens) and not np.array_equal(one.positions[:99], other.positions[:99])
    rows = rows_of(told)
    order = np.array([7, 3])
    some = masker(rows.select(order))
    for place, row in enumerate(order.tolist()):
        here = slice(*some.rows.cu_seqlens[place : place + 2])
        there = slice(*rows.cu_seqlens[row : row + 2])
        assert np.array_equal(some.tokens[here], one.tokens[there])


def test_whole_words_need_a_tokenizer_that_marks_them(tmp_path):
    _, words = told_apart(tmp_path, drawn_sizes(5))
    with pytest.raises(ConfigError, match='masking.whole_word_masking: needs a tokenizer of kind "wordpiece"'):
        Masker(MaskingSettings(whole_word_masking=True), words)
    plain = train_tokenizer(["some text or other"], TokenizerSettings(size=100))
    with pytest.raises(ConfigError, match=r"this tokenizer has no \[MASK\] token, so nothing can be masked"):
        Masker(MaskingSettings(), plain)
    with pytest.raises(ValidationError, match="random: 0.3 and masked 0.8 exceed 1"):
        MaskingSettings(random=0.3)


def test_draws_are_uniform_and_each_can_be_had_alone():
    found = uniform(keys_at(key_of(1, 2), np.arange(20_000)))
    assert 0 <= found.min() < 0.001 and 0.999 < found.max() < 1
    assert np.histogram(found, 10, (0, 1))[0] == pytest.approx(2000, abs=5 * 2000**0.5)
    assert uniform(keys_at(key_of(1, 2), np.array([777])))[0] == found[777]
    neighbors = np.corrcoef(found[1:], found[:-1])[0, 1]
    assert abs(neighbors) < 0.03
