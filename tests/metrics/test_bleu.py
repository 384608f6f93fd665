import math

import pytest

from regard.errors import ConfigError, DataError
from regard.metrics.bleu import explain_bleu, matches, ngrams
from regard.metrics.bleu_report import score_bleu
from regard.metrics.translation import translation_scores


def one(hypothesis, *references, lowercase=False):
    return score_bleu([hypothesis], [references], lowercase=lowercase)


def test_golden_counts_of_n_grams():
    assert [len(ngrams(["The", "ball", "is", "blue"], n)) for n in (1, 2, 3, 4)] == [4, 3, 2, 1]


def test_golden_precision_of_three_in_four():
    (first, *_) = one("He ate an apple", "He eats an apple").parts.precisions
    assert (first.matched, first.clipped, first.total) == (3, 3, 4)


def test_golden_clipping_stops_a_repeated_word():
    (first, *_) = one("He he he", "He eats an apple", lowercase=True).parts.precisions
    assert (first.matched, first.clipped, first.total) == (3, 1, 3)


def test_golden_clipping_takes_the_largest_count_of_any_one_reference():
    report = one("He He He eats tasty fruit", "He eats a sweet apple", "He is eating a tasty apple")
    assert (report.parts.precisions[0].clipped, report.parts.precisions[0].total) == (3, 6)


def test_golden_the_guard_in_the_rain():
    report = one("The guard arrived late because of the rain", "The guard arrived late because it was raining")
    assert [(p.clipped, p.total) for p in report.parts.precisions] == [(5, 8), (4, 7), (3, 6), (2, 5)]
    assert report.parts.brevity_penalty == 1
    assert [round(report.parts.score(n), 3) for n in (1, 2, 3, 4)] == [0.625, 0.598, 0.563, 0.517]


def test_the_brevity_penalty_uses_the_closest_reference():
    parts = explain_bleu([["a"] * 6], [[["a"] * 4, ["a"] * 7, ["a"] * 20]])
    assert (parts.hypothesis_length, parts.reference_length) == (6, 7)
    assert math.isclose(parts.brevity_penalty, math.exp(1 - 7 / 6))
    assert explain_bleu([["a"] * 6], [[["a"] * 5, ["a"] * 7]]).reference_length == 5  # a tie goes to the shorter


def test_without_a_match_of_four_the_paper_says_zero_and_sacrebleu_does_not():
    report = one("the cat sat here", "the cat was here")
    assert report.parts.score(4) == 0 and report.corpus.value > 0
    assert "smooths such orders (smooth:exp in its signature)" in report.smoothing_note()


def test_both_formulas_agree_where_every_order_matches():
    hypotheses = ["the small dog sleeps in the garden today", "she gives the child a red apple and a pear"]
    references = [["the small dog slept in the garden today"], ["she gave the child a red apple and a plum"]]
    report = score_bleu(hypotheses, references)
    assert math.isclose(100 * report.parts.score(4), report.corpus.value, abs_tol=1e-9)
    assert report.smoothing_note() == f"The paper's formula and sacrebleu agree: {report.corpus.value:.2f}."


def test_the_parts_equal_sacrebleu_s_own_with_several_references():
    from sacrebleu.metrics import BLEU

    hypotheses = ["He goes to the old house.", "They like it!", "a b c d e f"]
    references = [
        ["He went to the old house.", "He goes to that house."],
        ["They love it!", "Yes."],
        ["a b c d", "x"],
    ]
    theirs = BLEU().corpus_score(hypotheses, [[r[0] for r in references], [r[1] for r in references]])
    ours = score_bleu(hypotheses, references).parts
    assert [p.clipped for p in ours.precisions] == theirs.counts
    assert [p.total for p in ours.precisions] == theirs.totals
    assert (ours.hypothesis_length, ours.reference_length) == (theirs.sys_len, theirs.ref_len)
    assert math.isclose(ours.brevity_penalty, theirs.bp)


def test_matches_say_which_reference_has_the_n_gram():
    found = {match.ngram: match for match in matches(["a", "a", "b"], [["a", "b"], ["a", "a", "c"]], 1)}
    assert found[("a",)].in_references == (1, 2) and found[("a",)].clipped == 2
    assert found[("b",)].in_references == (1, 0)


def test_scores_carry_their_signatures():
    scores = {score.name: score for score in translation_scores(["the dog sleeps"], [["the dog sleeps"]])}
    assert scores["chrF"].value == 100 and scores["TER"].value == 0
    assert "tok:13a" in scores["BLEU"].signature and "case:mixed" in scores["BLEU"].signature


def test_an_empty_hypothesis_scores_nothing():
    assert one("", "a b c d").parts.score(4) == 0
    assert one("", "a b c d").corpus.value == 0


def test_mistakes_are_said():
    with pytest.raises(DataError, match="There are no hypotheses to score; the file is empty."):
        score_bleu([], [])
    with pytest.raises(ConfigError, match='tokenize: "spm9" is not one of 13a, intl, zh, char, none.'):
        score_bleu(["a"], [["a"]], tokenize="spm9")
