"""Questions to word vectors: their answers as values, and as lines."""

import numpy as np
import pytest

from golden_vectors import GOLDEN
from regard.pipelines.word_settings import AnalogyOptions, MetricOptions, NeighborOptions
from regard.pipelines.word_vectors import WordVectors
from regard.tasks.word_vectors.queries import QUERIES

BY_NAME = {query.name: query for query in QUERIES}


@pytest.fixture
def vectors():
    return WordVectors(list(GOLDEN), np.array(list(GOLDEN.values()), np.float32))


def test_an_answer_is_that_of_the_vectors_in_values_and_lines(vectors):
    values, lines = BY_NAME["neighbors"].answer(vectors, ["king"], NeighborOptions(top=2, exclude=("queen",)))
    assert values["nearest"] == vectors.neighbors("king", 2, "cosine", ("queen",))
    assert lines == [f"{each.word}\t{each.value:.4f}" for each in values["nearest"]]
    values, lines = BY_NAME["analogy"].answer(vectors, ["man", "woman", "king"], AnalogyOptions(top=1))
    assert values["nearest"][0].word == "queen" and lines[0].startswith("queen\t")
    values, lines = BY_NAME["similarity"].answer(vectors, ["man", "king"], MetricOptions(metric="dot"))
    assert values == {"metric": "dot", "value": vectors.similarity("man", "king", "dot")}
    assert lines == [f"{values['value']:.4f}"]


def test_the_odd_word_is_asked_among_any_number(vectors):
    query = BY_NAME["odd-one-out"]
    assert query.size is None and query.answer(vectors, ["man", "king", "apple"], query.options())[1] == ["apple"]
