"""Output of `regard similar`, over a stub encoder with vectors that can be checked by hand."""

import numpy as np
import pytest

from regard.cli.predict import similar
from regard.errors import ConfigError


class Counts:
    """An encoder whose vectors count the characters a and b."""

    def embed(self, texts, pooling=None, layer=-1, is_normalized=None, progress=None):
        vectors = np.array([[text.count("a"), text.count("b")] for text in texts], np.float32)
        return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True) if is_normalized else vectors

    def similar(self, texts, others, pooling=None, layer=-1, progress=None):
        return self.embed(texts, is_normalized=True) @ self.embed(others, is_normalized=True).T


@pytest.fixture(autouse=True)
def encoder(monkeypatch):
    monkeypatch.setattr("regard.tasks.load.load_encoder", lambda *_, **__: Counts())


def test_two_texts_are_a_number_and_more_a_matrix(capsys):
    similar.similar("run", ["a", "ab"])
    assert capsys.readouterr().out == "0.7071\n"
    similar.similar("run", ["a", "b", "ab"])
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["text", "a", "b", "ab"] and rows[2] == ["b", "0.0000", "1.0000", "0.7071"]


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ({"texts": ["a"]}, "There is one text to compare; give two, or a file with --against."),
        ({"texts": ["a"], "word": ["a"]}, "--word compares a word in two texts; give two texts after RUN."),
        (
            {"texts": ["a", "b"], "word": ["a", "b", "c"]},
            "--word c: give at most one word per text; leave this one out.",
        ),
        ({"texts": ["a", "b"], "beside": "v"}, "--beside compares the vectors of a word; name it with --word."),
        (
            {"texts": ["a", "b"], "text_column": ["x"]},
            "--text-column is for tables; give one with --file.",
        ),
    ],
)
def test_conflicting_arguments_of_similar_are_refused(flags, sentence):
    with pytest.raises(ConfigError) as error:
        similar.similar("run", **flags)
    assert str(error.value) == sentence
