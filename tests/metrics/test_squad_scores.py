"""Exact match and F1 of answers."""

import numpy as np
import pytest

from regard.metrics.squad import answer_scores, answer_statistics, best_threshold, exact_match, normalized, overlap_f1


def test_case_punctuation_and_articles_make_no_difference():
    assert normalized(" The  U.S. Army, an army ") == "us army army"
    assert exact_match("the Panthers!", ["Panthers"]) == 1.0
    assert exact_match("Theatre", ["atre"]) == 0.0


def test_f1_counts_common_words_once_each():
    assert overlap_f1("two delegates", ["elects two delegates"]) == pytest.approx(2 * 2 / 5)
    assert overlap_f1("two two", ["two delegates"]) == pytest.approx(2 * 1 / 4)
    assert overlap_f1("nothing", ["two delegates"]) == 0.0


def test_the_best_of_several_right_answers_counts():
    assert overlap_f1("in 1990", ["the year 1990", "in 1990"]) == 1.0
    assert exact_match("1990", ["in 1990", "1990"]) == 1.0


def test_without_an_answer_only_silence_is_right():
    assert exact_match("", []) == 1.0 and overlap_f1("", []) == 1.0
    assert exact_match("1990", []) == 0.0 and overlap_f1("1990", []) == 0.0
    assert overlap_f1("", ["1990"]) == 0.0


def test_figures_with_and_without_answers_are_told_apart():
    found = answer_scores(["1990", "", "Rome", "x"], [["1990"], [], ["the city of Rome"], []])
    assert (found.exact_match, found.answerable, found.unanswerable) == (0.5, 2, 2)
    assert found.f1 == pytest.approx((1 + 1 + 2 / 4 + 0) / 4)
    assert (found.answerable_exact_match, found.unanswerable_exact_match) == (0.5, 0.5)
    assert found.answerable_f1 == pytest.approx(0.75)


def test_a_question_that_counts_twice_is_there_twice():
    statistics = answer_statistics(["1990", "Rome"], [["1990"], ["the city of Rome"]])
    assert statistics["exact_match"](np.array([3.0, 1.0])) == 0.75
    assert statistics["f1"](np.array([1.0, 1.0])) == pytest.approx(0.75)


def test_the_threshold_keeps_the_answers_that_are_worth_it():
    said, right = ["a1", "b1", "c1", "d1"], [["a1"], ["b1"], [], []]
    threshold = best_threshold(said, right, [-3.0, 1.0, 2.0, 5.0])
    assert 1.0 < threshold < 2.0
    assert best_threshold(said, [[], [], [], []], [-3.0, 1.0, 2.0, 5.0]) < -3.0
    assert best_threshold(said, [["a1"], ["b1"], ["c1"], ["d1"]], [-3.0, 1.0, 2.0, 5.0]) > 5.0


def test_equal_margins_are_not_parted_by_a_threshold():
    threshold = best_threshold(["a1", "b1", "c1"], [["a1"], [], ["c1"]], [1.0, 1.0, -1.0])
    assert threshold == 0.0 or threshold > 1.0
