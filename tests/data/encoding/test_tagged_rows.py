"""Tagged sentences as ids."""

import numpy as np
import pytest

from regard.data.encoding.tagged import encode_tagged
from regard.data.encoding.templates import SequenceTemplate
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer


@pytest.fixture(scope="module")
def tokenizer():
    settings = TokenizerSettings(kind="wordpiece", special_tokens="bert", size=60, min_frequency=1)
    return train_tokenizer(["play plays played playing the dog"], settings)


def pieces(tokenizer, ids):
    return tokenizer.tokens(int(number) for number in ids)


def test_the_first_piece_of_each_word_carries_the_tag(tokenizer):
    frame = SequenceTemplate.of(tokenizer, is_for_encoder=True)
    words = [("the", "dogged", "plays"), ("plays",)]
    found = encode_tagged(words, [[1, 2, 3], [4]], tokenizer, frame, 40)
    batch = found.batch(np.array([1, 0]))
    looked_at = pieces(tokenizer, batch.reading.tokens[batch.places[:, 0]])
    assert [each.removeprefix("##")[:1] for each in looked_at] == ["p", "t", "d", "p"]
    assert not any(each.startswith("##") for each in looked_at)
    assert batch.labels.tolist() == [4, 1, 2, 3] and batch.label_count == 4
    assert (
        pieces(tokenizer, found.sequences[0])[0] == "[CLS]" and pieces(tokenizer, found.sequences[0])[-1] == "[SEP]"
    )
    assert len(found.sequences[0]) > 5  # there is a word of several pieces


def test_a_word_without_pieces_is_unknown_and_keeps_its_place(tokenizer):
    frame = SequenceTemplate.of(tokenizer, is_for_encoder=True)
    found = encode_tagged([("the", "\u200b", "dog")], [[0, 1, 2]], tokenizer, frame, 40)
    assert found.steps[0].tolist() == [1, 2, 3]
    assert int(found.sequences[0][2]) == tokenizer.unk_id


def test_a_long_sentence_is_read_in_pieces_and_loses_no_word(tokenizer):
    frame = SequenceTemplate.of(tokenizer, is_for_encoder=True)
    words = [tuple(["the", "dog"] * 10), ("the",)]
    labels = [list(range(20)), [99]]
    found = encode_tagged(words, labels, tokenizer, frame, 9)
    assert found.is_truncated.tolist() == [True, False] and set(found.owners.tolist()) == {0, 1}
    assert (found.sequences.lengths <= 9).all()
    batch = found.batch(np.arange(len(found)))
    assert batch.labels.tolist() == [*range(20), 99]
    read = pieces(tokenizer, batch.reading.tokens[batch.places[:, 0]])
    assert read == ["the", "dog"] * 10 + ["the"]


def test_the_fingerprint_depends_on_words_and_tags(tokenizer):
    frame = SequenceTemplate.of(tokenizer, is_for_encoder=True)
    prints = {
        encode_tagged([(word,)], [[label]], tokenizer, frame, 9).fingerprint()
        for word in ("dog", "the")
        for label in (0, 1)
    }
    assert len(prints) == 4
