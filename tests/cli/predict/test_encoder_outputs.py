"""Output of the verbs of encoders, over stub encoders with vectors that can be checked by hand."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from regard.cli.predict import embed, features, fill, similar
from regard.errors import ConfigError, DataError
from regard.pipelines.encoder_results import MaskCandidate, MaskFilling


class Counts:
    """An encoder whose vectors count the characters a and b."""

    def __init__(self):
        self.columns = {}

    def embed(self, texts, pooling=None, layer=-1, is_normalized=None, progress=None):
        vectors = np.array([[text.count("a"), text.count("b")] for text in texts], np.float32)
        return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True) if is_normalized else vectors

    def tokens(self, texts, layer=-1, progress=None):
        return [SimpleNamespace(tokens=tuple(text), vectors=self.embed(list(text))) for text in texts]

    def similar(self, texts, others, pooling=None, layer=-1):
        return self.embed(texts, is_normalized=True) @ self.embed(others, is_normalized=True).T

    def fill(self, texts, where, top, candidates, progress):
        words = [MaskCandidate(word, number, 0.5 / (number + 1)) for number, word in enumerate(candidates or "xyz")]
        return [MaskFilling(text, (tuple(words[:top]),) * text.count("[MASK]")) for text in texts]


@pytest.fixture(autouse=True)
def encoder(monkeypatch):
    for name in ("load_encoder", "load"):
        monkeypatch.setattr(f"regard.tasks.load.{name}", lambda *_, **__: Counts())


def test_vectors_are_tab_separated_lines(capsys):
    embed.embed("run", ["aab", "b"], quiet=True)
    rows = [[float(cell) for cell in line.split("\t")] for line in capsys.readouterr().out.splitlines()]
    assert rows == [[2, 1], [0, 1]]
    embed.embed("run", ["aaab"], normalize=True, quiet=True, json=True)
    result = json.loads(capsys.readouterr().out)
    assert result["text"] == "aaab" and result["vector"] == pytest.approx([0.9487, 0.3162], abs=1e-4)


def test_each_token_has_a_line_and_a_blank_line_ends_a_text(capsys):
    embed.embed("run", ["ab", "b"], tokens=True, quiet=True)
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [line[0] for line in lines] == ["a", "b", "", "b", ""]
    assert [float(cell) for cell in lines[1][1:]] == [0, 1]


def test_a_table_gets_a_column_per_dimension(tmp_path, capsys):
    (tmp_path / "in.csv").write_text("id,text\n7,aa\n8,b\n")
    embed.embed("run", file=tmp_path / "in.csv", text_column="text", quiet=True)
    header, *rows = (line.split(",") for line in capsys.readouterr().out.splitlines())
    assert header == ["id", "text", "v0", "v1"] and [[float(v) for v in row[2:]] for row in rows] == [[2, 0], [0, 1]]


def test_each_mask_lists_its_candidates_with_the_filled_text(capsys):
    fill.fill("run", ["[MASK] a [MASK]"], top=2, quiet=True)
    assert [line.split("\t") for line in capsys.readouterr().out.splitlines()] == [
        ["1", "0.5000", "x", "x a x"],
        ["1", "0.2500", "y", "y a x"],
        ["2", "0.5000", "x", "x a x"],
        ["2", "0.2500", "y", "x a y"],
    ]


def test_lines_of_a_file_have_numbers_and_candidates_are_stripped(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("[MASK]\n\n[MASK]\n")
    fill.fill("run", file=tmp_path / "a.txt", top=1, candidates="red, blue", quiet=True)
    lines = [line.split("\t")[:4] for line in capsys.readouterr().out.splitlines()]
    assert lines == [["1", "1", "0.5000", "red"], ["3", "1", "0.5000", "red"]]


def test_a_filled_table_keeps_rows_without_text(tmp_path, capsys):
    (tmp_path / "a.csv").write_text('text\n[MASK] b\n""\n[MASK]\n')
    fill.fill("run", file=tmp_path / "a.csv", text_column="text", quiet=True)
    assert capsys.readouterr().out.splitlines() == [
        "text,filled,tokens,probabilities",
        "[MASK] b,x b,x,0.500000",
        ",,,",
        "[MASK],x,x,0.500000",
    ]


def test_two_texts_are_a_number_and_more_a_matrix(capsys):
    similar.similar("run", ["a", "ab"])
    assert capsys.readouterr().out == "0.7071\n"
    similar.similar("run", ["a", "b", "ab"])
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["text", "a", "b", "ab"] and rows[2] == ["b", "0.0000", "1.0000", "0.7071"]


def test_a_line_that_is_no_pair_is_named():
    assert similar._pairs(["a\tb", "  "], 1) == [("a", "b"), None]
    for line in ("a", "a\tb\tc"):
        with pytest.raises(DataError, match="line 12: this is not a text pair; put one tab between two texts."):
            similar._pairs([line], 12)


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
            "--text-column and --out are for tables; give one with --file.",
        ),
    ],
)
def test_conflicting_arguments_of_similar_are_refused(flags, sentence):
    with pytest.raises(ConfigError) as error:
        similar.similar("run", **flags)
    assert str(error.value) == sentence


def test_layers_are_split_at_commas_and_checked():
    with pytest.raises(ConfigError, match='--layers: "first" is not one of embeddings, last, second-to-last, '):
        features.features("run", data="a.conll", layers=["last,first"])


def test_sources_of_features_have_the_columns_and_the_limit_of_training_data():
    fields = {"word_column": 1, "max_rows": 5}
    sources = features._sources("a.conll", "b.conll", fields)
    assert (sources.train.path, sources.train.word_column, sources.train.max_rows) == ("a.conll", 1, 5)
    assert (sources.valid.path, sources.valid.word_column, sources.valid.max_rows) == ("b.conll", 1, None)
    assert features._sources("a.conll", None, fields).valid is None
