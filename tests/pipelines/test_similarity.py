"""The nearest texts are those of a full matrix of cosines."""

import numpy as np
import pytest

from encoder_folders import WORDS, bert_tokenizer, small_encoder_bundle
from regard.errors import DataError
from regard.pipelines import similarity as module
from regard.pipelines.encoder import Encoder
from regard.pipelines.similarity import Near, SimilarOptions, TextSimilarity, nearest

OTHERS = [*WORDS, "dog", "the cat", "dog", "a ball"]


@pytest.fixture(scope="module")
def encoder():
    return Encoder(small_encoder_bundle(bert_tokenizer()))


def test_they_are_the_most_similar_best_first(encoder):
    texts = ["the dog sleeps", "money"]
    cosines = encoder.similar(texts, OTHERS)
    for row, near in zip(cosines, nearest(encoder, texts, OTHERS, top=4), strict=True):
        assert [each.number for each in near] == np.argsort(-row, kind="stable")[:4].tolist()
        assert [each.text for each in near] == [OTHERS[each.number] for each in near]
        assert [each.similarity for each in near] == pytest.approx(sorted(row)[::-1][:4], abs=1e-6)


def test_of_equal_texts_the_first_comes_first(encoder):
    first, second, *_ = nearest(encoder, ["dog"], OTHERS)[0]
    assert (first.text, second.text) == ("dog", "dog") and first.number < second.number
    assert first.similarity == pytest.approx(1, abs=1e-5)


def test_blocks_of_any_size_give_the_same(encoder, monkeypatch):
    texts = WORDS[:3]
    whole = nearest(encoder, texts, OTHERS, top=2)
    monkeypatch.setattr(module, "AT_ONCE", 1)
    for row, other in zip(nearest(encoder, texts, OTHERS, top=2), whole, strict=True):
        assert [each.number for each in row] == [each.number for each in other]


def test_more_than_there_are_is_all(encoder):
    assert len(nearest(encoder, ["dog"], OTHERS[:2], top=9)[0]) == 2
    assert nearest(encoder, [], OTHERS) == []


def test_without_other_texts_there_is_nothing_to_compare(encoder):
    with pytest.raises(DataError) as error:
        nearest(encoder, ["dog"], [])
    assert str(error.value) == "There are no other texts to compare with."


def test_pairs_are_the_diagonal_of_all_similarities(encoder):
    pairs = [(WORDS[0], "dog"), ("the cat", WORDS[1]), ("a ball", "a ball")]
    expected = np.diagonal(encoder.similar([one for one, _ in pairs], [other for _, other in pairs]))
    results = TextSimilarity(encoder)(pairs)
    assert [each.similarity for each in results] == pytest.approx(expected, abs=1e-5)
    assert results[0].lines() == [f"{expected[0]:.4f}"] and results[0].to_dict()["texts"] == list(pairs[0])
    assert isinstance(nearest(encoder, ["dog"], ["cat"])[0][0], Near)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"word": ("a", "b", "c")}, "--word c: give at most one word per text; leave this one out."),
        ({"beside": "v"}, "--beside compares the vectors of a word; name it with --word."),
        ({"word": ("a",), "pooling": "cls"}, "--pooling is for vectors of texts; leave it out with --word."),
        ({"top": 3}, "--top 3 is for the nearest lines of a file; name one with --against."),
    ],
)
def test_options_that_have_no_effect_together_are_refused(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        SimilarOptions(**given)
