"""Prepared data: names of sets in messages, and the tokenizers of a translator."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from regard.data.sources.pair import Pair
from regard.models.base.settings import Vocabularies
from regard.tasks.data import RawPairs, TextTaskData, scorings, translation_tokenizers

A, B, C = (Pair(letter, letter.upper()) for letter in "abc")


def test_one_tokenizer_serves_both_sides_and_two_one_each():
    one, two = object(), object()
    assert translation_tokenizers({"tokenizer": one}) == (one, one)
    assert translation_tokenizers({"target": two, "source": one}) == (one, two)
    with pytest.raises(KeyError):
        translation_tokenizers({"source": one})


def test_every_raw_set_has_the_name_of_messages():
    raw = RawPairs([A], [B], {"t": [C], "u": []})
    assert raw.sets == {"training set": [A], "validation set": [B], "test set t": [C], "test set u": []}
    assert raw.held_out == [B, C]


def test_a_validation_set_held_out_of_training_is_not_among_the_raw_sets():
    raw = RawPairs([A, B], None, {"t": [C]})
    assert list(raw.sets) == ["training set", "test set t"] and raw.held_out == [C]


def test_the_held_out_texts_are_the_validation_and_test_sets():
    corpora = SimpleNamespace(valid="v", test={"t": "w"})
    data = TextTaskData(None, corpora, SimpleNamespace(size=7), Path("corpora"))
    assert data.held_out == {"validation set": "v", "test set t": "w"} and data.tests == {"t": "w"}
    assert data.vocabularies == Vocabularies(7, 7, is_shared=True)
    corpora.test.clear()
    assert data.tests == {"valid": "v"}


def test_final_scores_of_many_rows_take_as_many_validations():
    assert scorings(1000, 200, each=3.0) == 15.0
    assert scorings(50, 50) == 2.0 and scorings(10, 0) == 15.0
