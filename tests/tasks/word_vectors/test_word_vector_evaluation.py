"""Evaluation of word vectors: analogies by section, and correlation with human ratings."""

import numpy as np
import pytest

from golden_vectors import GOLDEN
from regard.errors import DataError
from regard.pipelines.word_vectors import WordVectors
from regard.tasks.word_vectors.evaluate import (
    analogy_table,
    plain_analogies,
    read_questions,
    read_rated_pairs,
    score_analogies,
    score_similarities,
    similarity_table,
)
from regard.tasks.word_vectors.records import AnalogiesRecord, SimilarityRecord


@pytest.fixture
def golden():
    return WordVectors(list(GOLDEN), np.array(list(GOLDEN.values()), np.float32), "golden")


def test_analogies_are_counted_by_section(golden, tmp_path):
    path = tmp_path / "questions.txt"
    path.write_text(": family\nman woman king queen\nMan Woman Queen Apple\n: gram1\nman woman zebra queen\n")
    scores = score_analogies(golden, path)
    assert [(each.name, each.questions, each.covered, each.right) for each in scores.sections] == [
        ("family", 2, 2, 1),
        ("gram1", 1, 0, 0),
    ]
    assert (scores.total.questions, scores.semantic.covered, scores.syntactic.accuracy) == (3, 2, None)
    path.write_text("man woman king\n")
    with pytest.raises(DataError, match="line 1 has 3 words, but an analogy has four"):
        score_analogies(golden, path)


@pytest.mark.parametrize("comma", ["\t", ",", ";", " "])
def test_rated_pairs_are_compared(golden, tmp_path, comma):
    path = tmp_path / "pairs.txt"
    rows = [
        ("Word1", "Word2", "Human"),
        ("man", "king", "6"),
        ("apple", "orange", "9"),
        ("man", "apple", "1"),
        ("a", "b", "2"),
    ]
    path.write_text("".join(comma.join(row) + "\n" for row in rows))
    assert len(read_rated_pairs(path)) == 4
    scores = score_similarities(golden, path)
    assert (scores.pairs, scores.covered, scores.spearman) == (4, 3, pytest.approx(1.0))
    path.write_text("a\tb\t1\n")
    scores = score_similarities(golden, path)  # other files are scored all the same
    assert (scores.pairs, scores.covered, scores.spearman, scores.pearson) == (1, 0, None, None)
    (table,) = similarity_table([SimilarityRecord(**vars(scores))])
    assert list(table.rows) == [(path.name, "1", "0", "-", "-")]


def test_a_table_has_a_row_for_each_section_with_questions(golden, tmp_path):
    path = tmp_path / "questions.txt"
    path.write_text(": family\nman woman king queen\nMan Woman Queen Apple\n: gram1\nman woman zebra queen\n")
    (table,) = analogy_table(AnalogiesRecord.model_validate(plain_analogies(score_analogies(golden, path))))
    assert table.header[0] == "analogies (questions.txt)"
    assert list(table.rows) == [
        ("family", "2", "2", "50.0 %"),
        ("gram1", "1", "0", "-"),
        ("semantic", "2", "2", "50.0 %"),
        ("syntactic", "1", "0", "-"),
        ("all", "3", "2", "50.0 %"),
    ]
    assert analogy_table(None) == similarity_table([]) == []


def test_rare_words_are_no_candidates(golden, tmp_path):
    path = tmp_path / "questions.txt"
    path.write_text("man woman king queen\n")
    assert read_questions(path) == {"all": [("man", "woman", "king", "queen")]}
    assert score_analogies(golden, path, candidates=3).total.covered == 0
    assert score_analogies(golden, path, candidates=4).total.right == 1


def test_batches_of_questions_change_no_accuracy(golden, tmp_path, monkeypatch):
    path = tmp_path / "questions.txt"
    words = list(GOLDEN)
    path.write_text("\n".join(f"{a} {b} {c} {d}" for a in words for b in words for c in words for d in words))
    together = score_analogies(golden, path).total
    monkeypatch.setattr("regard.tasks.word_vectors.evaluate.COSINES", 1)
    assert score_analogies(golden, path).total == together and 0 < together.right < together.covered


@pytest.mark.parametrize("text, read", [("", read_questions), (": family\n", read_questions), ("", read_rated_pairs)])
def test_an_empty_file_is_refused(tmp_path, text, read):
    (tmp_path / "empty.txt").write_text(text)
    with pytest.raises(DataError, match=r"empty.txt: there are no (analogies|rated pairs) in it; give lines of"):
        read(tmp_path / "empty.txt")
