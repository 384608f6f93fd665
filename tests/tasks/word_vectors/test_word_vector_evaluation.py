"""Evaluation of word vectors: analogies by section, and correlation with human ratings."""

import numpy as np
import pytest

from golden_vectors import GOLDEN
from regard.errors import DataError
from regard.pipelines.word_vectors import WordVectors
from regard.tasks.word_vectors.evaluate import (
    evaluate_words,
    read_questions,
    read_rated_pairs,
    section_table,
    word_sets,
    word_statistics,
)
from regard.tasks.word_vectors.records import SectionRecord
from regard.tasks.word_vectors.settings import VectorEvaluationSettings


def analogies(path):
    return word_sets(VectorEvaluationSettings(analogies=str(path)))["analogies"]


def pairs(path):
    return word_sets(VectorEvaluationSettings(similarities=(str(path),)))[str(path)]


@pytest.fixture
def golden():
    return WordVectors(list(GOLDEN), np.array(list(GOLDEN.values()), np.float32), "golden")


def test_analogies_are_counted_by_section(golden, tmp_path):
    path = tmp_path / "questions.txt"
    path.write_text(": family\nman woman king queen\nMan Woman Queen Apple\n: gram1\nman woman zebra queen\n")
    evaluation = evaluate_words(golden, analogies(path))
    sections = evaluation.details["sections"]
    assert [(each["name"], each["questions"], each["covered"], each["accuracy"]) for each in sections] == [
        ("family", 2, 2, 0.5),
        ("gram1", 1, 0, None),
        ("semantic", 2, 2, 0.5),
        ("syntactic", 1, 0, None),
    ]
    assert (evaluation["questions"], evaluation["covered"], evaluation["accuracy"]) == (3, 2, 0.5)
    assert evaluation.outputs[0] == "queen" and evaluation.outputs[2] == ""
    (table,) = section_table("q", [SectionRecord.model_validate(each) for each in sections])
    assert list(table.rows)[:2] == [("family", "2", "2", "50.0 %"), ("gram1", "1", "0", "-")]
    path.write_text("man woman king\n")
    with pytest.raises(DataError, match="line 1 has 3 words, but an analogy has four"):
        analogies(path)


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
    scores = evaluate_words(golden, pairs(path))
    assert (scores["pairs"], scores["covered"], scores["spearman"]) == (4, 3, pytest.approx(1.0))
    path.write_text("a\tb\t1\n")
    scores = evaluate_words(golden, pairs(path))  # other files are scored all the same
    assert (scores["pairs"], scores["covered"], scores["spearman"], scores["pearson"]) == (1, 0, None, None)


def test_lines_of_another_system_are_checked(golden, tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text("man\tking\t6\napple\torange\t9\n")
    assert word_statistics(pairs(path), ["0.5", "0.7"])["spearman"](np.ones(2)) == pytest.approx(1.0)
    with pytest.raises(DataError, match="1 lines, but .* has 2 rows; give a line for each."):
        word_statistics(pairs(path), ["0.5"])
    with pytest.raises(DataError, match="its lines are not cosines of the pairs of .*; name a passport."):
        word_statistics(pairs(path), ["0.5", "near"])


def test_rare_words_are_no_candidates(golden, tmp_path):
    path = tmp_path / "questions.txt"
    path.write_text("man woman king queen\n")
    assert read_questions(path) == {"all": [("man", "woman", "king", "queen")]}
    few = evaluate_words(golden, analogies(path), candidates=3)
    assert few["covered"] == 0 and few.decode == {"candidates": 3} and few.decode_defaults["candidates"] > 3
    assert evaluate_words(golden, analogies(path), candidates=4)["accuracy"] == 1


def test_batches_of_questions_change_no_accuracy(golden, tmp_path, monkeypatch):
    path = tmp_path / "questions.txt"
    words = list(GOLDEN)
    path.write_text("\n".join(f"{a} {b} {c} {d}" for a in words for b in words for c in words for d in words))
    together = evaluate_words(golden, analogies(path))
    monkeypatch.setattr("regard.tasks.word_vectors.evaluate.COSINES", 1)
    assert evaluate_words(golden, analogies(path)).outputs == together.outputs and 0 < together["accuracy"] < 1


@pytest.mark.parametrize("text, read", [("", read_questions), (": family\n", read_questions), ("", read_rated_pairs)])
def test_an_empty_file_is_refused(tmp_path, text, read):
    (tmp_path / "empty.txt").write_text(text)
    with pytest.raises(DataError, match=r"empty.txt: there are no (analogies|rated pairs) in it; give lines of"):
        read(tmp_path / "empty.txt")
