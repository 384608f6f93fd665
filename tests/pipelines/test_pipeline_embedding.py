"""Embeddings as results."""

import numpy as np

from regard.pipelines.embedding import Embedding, EmbedOptions
from regard.pipelines.inputs import SingleText


def test_an_embedding_is_a_column_for_each_dimension():
    result = Embedding(SingleText("a"), np.array([0.5, 1.0], np.float32))
    assert result.cells() == {"v0": "0.5", "v1": "1.0"} and str(result) == "0.5\t1.0"
    assert result.to_dict() == {"text": "a", "vector": [0.5, 1.0]} and EmbedOptions().layer == -1
