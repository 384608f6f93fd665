"""`regard features` reads its layers and its data."""

import pytest

from regard.cli.predict import features
from regard.errors import ConfigError
from regard.studies.features import feature_data


def test_layers_are_split_at_commas_and_checked():
    with pytest.raises(ConfigError, match='--layers: "first" is not one of embeddings, last, second-to-last, '):
        features.features("run", data="a.conll", layers=["last,first"])


def test_sources_of_features_have_the_columns_and_the_limit_of_training_data():
    fields = {"word_column": 1, "max_rows": 5}
    sources = feature_data("a.conll", "b.conll", fields)
    assert (sources.train.path, sources.train.word_column, sources.train.max_rows) == ("a.conll", 1, 5)
    assert (sources.valid.path, sources.valid.word_column, sources.valid.max_rows) == ("b.conll", 1, None)
    assert feature_data("a.conll", None, fields).valid is None
