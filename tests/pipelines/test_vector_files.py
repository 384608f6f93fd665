"""Vectors are the same after they were written and read again."""

import csv
import json

import numpy as np
import pytest

from regard.errors import ConfigError
from regard.pipelines.encoder_results import TokenVectors
from regard.pipelines.vector_files import check_ending, in_words, write_token_vectors, write_vectors

TEXTS = ["the dog", 'a "quoted", text\nof two lines', "ü"]
VECTORS = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
TOKENS = [
    TokenVectors("the dog", ("[CLS]", "the", "[SEP]"), ((0, 0), (0, 3), (0, 0)), VECTORS, True),
    TokenVectors("", ("[CLS]", "[SEP]"), ((0, 0), (0, 0)), VECTORS[:2] * 2, False),
]


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_texts_and_vectors_round_trip_in_every_format(tmp_path):
    for name in ("a.npz", "a.jsonl", "a.CSV"):
        write_vectors(tmp_path / name, TEXTS, VECTORS)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert arrays["texts"].tolist() == TEXTS and np.array_equal(arrays["vectors"], VECTORS)
    records = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [record["text"] for record in records] == TEXTS
    assert np.array_equal(np.array([record["vector"] for record in records], np.float32), VECTORS)
    header, *rows = rows_of(tmp_path / "a.CSV")
    assert header == ["text", "v0", "v1", "v2", "v3"] and [row[0] for row in rows] == TEXTS
    assert np.array_equal(np.array([row[1:] for row in rows], np.float32), VECTORS)


def test_tokens_of_all_texts_are_concatenated_with_their_bounds(tmp_path):
    for name in ("a.npz", "a.jsonl", "a.csv"):
        write_token_vectors(tmp_path / name, TOKENS)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        for number, each in enumerate(TOKENS):
            begin, end = arrays["bounds"][number : number + 2]
            assert tuple(arrays["tokens"][begin:end]) == each.tokens
            assert np.array_equal(arrays["vectors"][begin:end], each.vectors)
    records = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert [record["tokens"] for record in records] == [list(each.tokens) for each in TOKENS]
    assert records[0]["offsets"] == [[0, 0], [0, 3], [0, 0]]
    header, *rows = rows_of(tmp_path / "a.csv")
    assert header[:2] == ["text", "token"] and [row[0] for row in rows] == ["0"] * 3 + ["1"] * 2
    expected = np.concatenate([each.vectors for each in TOKENS])
    assert np.array_equal(np.array([row[2:] for row in rows], np.float32), expected)


def test_no_texts_are_a_file_without_rows(tmp_path):
    write_token_vectors(tmp_path / "a.csv", [])
    assert rows_of(tmp_path / "a.csv") == [["text", "token"]]


def test_written_numbers_are_exact():
    values = np.array([0.1, 1 / 3, 1e-30, -123456.78], np.float32)
    assert np.array_equal(np.array(in_words(values), np.float32), values)


def test_another_ending_is_refused_before_anything_is_written(tmp_path):
    for attempt in (check_ending, lambda path: write_vectors(path, TEXTS, VECTORS)):
        with pytest.raises(ConfigError) as error:
            attempt(tmp_path / "a.txt")
        assert str(error.value) == (
            f"{tmp_path / 'a.txt'}: vectors are written to .npz, .jsonl, .csv; choose one of these endings."
        )
    assert not list(tmp_path.iterdir())
