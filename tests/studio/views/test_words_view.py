import numpy as np
import pytest

from golden_vectors import GOLDEN
from regard.errors import ConfigError
from regard.pipelines.word_vectors import WordVectors
from regard.studio.views.words import (
    AnalogyRequest,
    MapRequest,
    NeighborsRequest,
    OccurrencesRequest,
    principal_points,
    show_analogy,
    show_map,
    show_neighbors,
    show_occurrences,
)
from regard.tasks.word_vectors.map import project


@pytest.fixture
def vectors():
    return WordVectors(list(GOLDEN), np.array(list(GOLDEN.values()), np.float32))


def test_principal_points_are_those_of_scikit_learn_up_to_sign():
    table = np.random.default_rng(1).normal(size=(300, 9)).astype(np.float32) * np.arange(1, 10, dtype=np.float32)
    own, theirs = principal_points(table), project(table, "pca")
    for axis in range(2):
        assert abs(np.corrcoef(own[:, axis], theirs[:, axis])[0, 1]) > 0.9999
        assert np.allclose(np.abs(own[:, axis]), np.abs(theirs[:, axis]), atol=1e-3)


@pytest.mark.parametrize("method", ["pca", "tsne"])
def test_a_map_has_a_point_for_each_word(vectors, method):
    view = show_map(vectors, MapRequest(model="m", method=method))
    assert view.words == list(GOLDEN) and view.points.shape == [6, 2]
    points = view.points.array
    assert points.min() >= 0 and points.max() <= 1.0001
    with pytest.raises(ConfigError, match="a map takes 3 or more words"):
        show_map(vectors, MapRequest(model="m", count=2))


def test_neighbors_and_analogies_are_the_golden_ones(vectors):
    view = show_neighbors(vectors, NeighborsRequest(model="m", word="Apple", top=2))
    assert view.word == "apple" and view.nearest[0].word == "orange"
    analogy = show_analogy(vectors, AnalogyRequest(model="m", a="man", b="woman", c="king"))
    assert analogy.answers[0].word == "queen" and analogy.words == ["man", "woman", "king", "queen"]
    assert analogy.points.shape == [4, 2]


def test_a_word_in_context_has_many_points_and_its_embedding_one(pipeline_of):
    encoder = pipeline_of("masked-language-model")
    sentences = ["the dog sleeps", "a dog has a red hat", "Anna sees the dog"]
    view = show_occurrences(encoder, OccurrencesRequest(model="m", word="dog", sentences=sentences))
    assert view.points.shape == [3, 2] and view.static.shape == [2]
    expected = encoder.similar_words((sentences[0], "dog"), (sentences[1], "dog"))
    assert view.similarities.array[0, 1] == pytest.approx(expected.in_context, abs=1e-5)
    with pytest.raises(ConfigError, match="give two or more"):
        show_occurrences(encoder, OccurrencesRequest(model="m", word="dog", sentences=["the dog"]))


def test_other_models_are_refused(vectors, pipeline_of):
    with pytest.raises(ConfigError, match="no table of word vectors"):
        show_map(pipeline_of("classify"), MapRequest(model="m"))
    with pytest.raises(ConfigError, match="come from a text encoder"):
        show_occurrences(vectors, OccurrencesRequest(model="m", word="dog", sentences=["a", "b"]))
