"""Vectors are the same after they were written and read again."""

import csv
import json

import numpy as np
import pytest

from regard.pipelines.embedding import Embedding, EmbedOptions
from regard.pipelines.encoder_results import TokenVectors, in_words
from regard.pipelines.inputs import SingleText

TEXTS = ["the dog", 'a "quoted", text\nof two lines', "ü"]
VECTORS = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
TOKENS = [
    TokenVectors("the dog", ("[CLS]", "the", "[SEP]"), ((0, 0), (0, 3), (0, 0)), VECTORS, True),
    TokenVectors("", ("[CLS]", "[SEP]"), ((0, 0), (0, 0)), VECTORS[:2] * 2, False),
]


def test_texts_and_vectors_round_trip(tmp_path):
    Embedding.write(tmp_path / "a.npz", [Embedding(SingleText(text), row) for text, row in zip(TEXTS, VECTORS)])
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert arrays["texts"].tolist() == TEXTS and np.array_equal(arrays["vectors"], VECTORS)


def test_tokens_of_all_texts_are_concatenated_with_their_bounds(tmp_path):
    for name in ("a.npz", "a.jsonl", "a.csv"):
        TokenVectors.write(tmp_path / name, TOKENS)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        for number, each in enumerate(TOKENS):
            begin, end = arrays["bounds"][number : number + 2]
            assert tuple(arrays["tokens"][begin:end]) == each.tokens
            assert np.array_equal(arrays["vectors"][begin:end], each.vectors)
    records = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [record["tokens"] for record in records] == [list(each.tokens) for each in TOKENS]
    assert records[0]["offsets"] == [[0, 0], [0, 3], [0, 0]]
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header[:2] == ["text", "token"] and [row[0] for row in rows] == ["0"] * 3 + ["1"] * 2
    expected = np.concatenate([each.vectors for each in TOKENS])
    assert np.array_equal(np.array([row[2:] for row in rows], np.float32), expected)


def test_each_token_has_a_line_and_a_blank_line_ends_a_text():
    lines = [line.split("\t") for line in TOKENS[0].lines()]
    assert [line[0] for line in lines] == ["[CLS]", "the", "[SEP]", ""]
    assert np.array_equal(np.array(lines[1][1:], np.float32), VECTORS[1])


def test_written_numbers_are_exact():
    values = np.array([0.1, 1 / 3, 1e-30, -123456.78], np.float32)
    assert np.array_equal(np.array(in_words(values), np.float32), values)


def test_vectors_of_tokens_are_not_pooled():
    for given in ({"pooling": "cls"}, {"normalize": True}):
        with pytest.raises(ValueError, match="--pooling and --normalize are for one vector per text; leave them out"):
            EmbedOptions(tokens=True, **given)
