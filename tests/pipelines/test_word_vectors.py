import numpy as np
import pytest

from golden_vectors import GOLDEN
from regard.errors import ConfigError, DataError
from regard.pipelines.word_vectors import WordVectors


@pytest.fixture
def golden():
    return WordVectors(list(GOLDEN), np.array(list(GOLDEN.values()), np.float32), "golden")


@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean"])
def test_man_is_to_woman_as_king_is_to_queen(golden, metric):
    assert golden.analogy("man", "woman", "king", metric=metric)[0].word == "queen"


@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean"])
def test_apple_is_nearest_to_orange(golden, metric):
    assert golden.neighbors("orange", metric=metric)[0].word == "apple"
    assert golden.neighbors("apple", metric=metric)[0].word == "orange"


def test_values_are_those_of_the_metric(golden):
    one, other = (np.array(GOLDEN[word], np.float64) for word in ("king", "queen"))
    expected = {
        "cosine": one @ other / np.linalg.norm(one) / np.linalg.norm(other),
        "dot": one @ other,
        "euclidean": np.linalg.norm(one - other),
    }
    for metric, value in expected.items():
        assert golden.similarity("king", "queen", metric) == pytest.approx(value, rel=1e-5)
        near = {each.word: each.value for each in golden.neighbors("king", 10, metric)}
        assert near["queen"] == pytest.approx(value, rel=1e-5)
        assert "king" not in near and len(near) == 5


def test_excluded_words_are_no_answer(golden):
    assert golden.neighbors("orange", 9, exclude=["apple", "nonsense"])[0].word != "apple"
    assert golden.analogy("man", "woman", "king", exclude=["queen"])[0].word != "queen"


def test_the_odd_one_out(golden):
    assert golden.odd_one_out(["man", "king", "apple"])[0] == "apple"
    with pytest.raises(ConfigError, match="2 words are too few to find the outlier"):
        golden.odd_one_out(["man", "king"])


def test_words_are_found_in_other_forms(golden):
    vectors = WordVectors(["new_york", "Paris"], np.eye(2, dtype=np.float32))
    assert (vectors.find("New York"), vectors.find("Paris"), vectors.find("paris")) == (0, 1, None)
    assert golden.number("KING") == 2


def test_words_are_looked_up_as_in_a_dictionary(golden):
    assert "king" in golden and "KING" in golden and "zebra" not in golden and 3 not in golden
    assert np.array_equal(golden["king"], golden.vector("king"))
    assert repr(golden) == f"WordVectors(6 words, {golden.width} dimensions, golden)"


def test_a_text_is_one_word_and_not_its_letters(golden):
    first = golden.neighbors("king", 1)[0].word
    assert golden.neighbors("king", 1, exclude=first) == golden.neighbors("king", 1, exclude=[first])
    assert golden.neighbors("king", 1, exclude=first)[0].word != first
    with pytest.raises(ConfigError, match='"king" is one text; give the words as a list.'):
        golden.odd_one_out("king")
    with pytest.raises(DataError, match="golden: 3 is not a word; give it as text."):
        golden.neighbors(3)


def test_an_unknown_word_is_one_sentence(golden):
    with pytest.raises(DataError) as refused:
        golden.vector("quen")
    assert str(refused.value) == 'golden: there is no vector for "quen"; did you mean "queen"?'
    often = WordVectors(["the", "king", "kung"], np.eye(3, dtype=np.float32))
    with pytest.raises(DataError, match='did you mean "king"'):  # kung is as near, and rarer
        often.vector("kng")
    with pytest.raises(DataError, match="it is not one of the 6 words there are"):
        golden.vector("zebra")
    with pytest.raises(ConfigError, match='metric: "manhattan" is not one of cosine, dot, euclidean'):
        golden.neighbors("man", metric="manhattan")
