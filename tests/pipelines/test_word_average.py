"""A text's vector is the mean or the maximum of its word vectors."""

import numpy as np
import pytest

from golden_vectors import GOLDEN
from regard.errors import ConfigError, DataError
from regard.pipelines.word_average import WordAverageEncoder
from regard.pipelines.word_vectors import WordVectors
from regard.progress import Progress

VECTORS = WordVectors(list(GOLDEN), np.array(list(GOLDEN.values()), np.float32), "golden")
ENCODER = WordAverageEncoder(VECTORS)


class Warned(Progress):
    def __init__(self):
        self.sentences = []

    def warn(self, message):
        self.sentences.append(message)


@pytest.mark.parametrize(("pooling", "pool"), [(None, np.mean), ("mean", np.mean), ("max", np.max)])
def test_words_are_pooled_whatever_their_case_and_order(pooling, pool):
    expected = pool([GOLDEN["king"], GOLDEN["apple"]], axis=0)
    vectors = ENCODER.embed(["King unheard, apple!", "apple king"], pooling)
    assert vectors.dtype == np.float32 and np.allclose(vectors, [expected, expected], atol=1e-6)


def test_a_text_without_known_words_is_zero_and_similar_to_nothing():
    progress = Warned()
    vectors = ENCODER.embed(["king", "zzz", ""], is_normalized=True, progress=progress)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 0])
    assert progress.sentences == ["2 of 3 texts have no word with a vector: all similarities are 0."]
    ENCODER.embed(["zzz"], progress=progress)
    assert progress.sentences[1] == "The text has no word with a vector: all similarities are 0."
    assert ENCODER.similar(["zzz"], ["king"]).tolist() == [[0.0]]


def test_no_texts_have_no_vectors():
    assert ENCODER.embed([]).shape == (0, 4)


def test_similarities_are_cosines_of_all_pairs():
    one, other = ["king", "man king"], ["queen", "apple", "orange"]
    values = ENCODER.similar(one, other)
    assert values.shape == (2, 3)
    assert values[0] == pytest.approx([VECTORS.similarity("king", word) for word in other], abs=1e-6)


def test_context_has_no_influence_on_a_word():
    same = ENCODER.similar_words(("the king sleeps", "king"), ("a queen", "queen"))
    assert same.in_context == same.without_context == pytest.approx(VECTORS.similarity("king", "queen"))
    with pytest.raises(DataError, match='There is no word "kin" in "the king"; name one that is'):
        ENCODER.similar_words(("the king", "kin"), ("a queen", "queen"))


def test_layers_and_poolings_of_encoders_are_refused():
    with pytest.raises(ConfigError) as error:
        ENCODER.embed(["king"], layer=2)
    assert str(error.value) == "layer: 2 does not exist, word vectors have one layer; leave it out."
    with pytest.raises(ConfigError, match='pooling: "cls" is for text encoders; word vectors take mean or max'):
        ENCODER.embed(["king"], "cls")
