"""Results of a translator: detokenized on first use, sums of log probabilities."""

import math

import pytest

from labeled import word_tokenizer
from regard.data.sources.pair import Pair
from regard.decoding.steppers.interface import Hypothesis
from regard.tasks.translate.options import SourceRow
from regard.tasks.translate.results import PairScore, Translation, TranslationCandidate, detokenized


def test_candidates_are_made_once_and_only_when_asked_for():
    made = []

    def find():
        made.append(1)
        return (TranslationCandidate("b", 0.0, 0.0, ("b",), (4,), True),)

    translation = Translation(SourceRow("a"), "b", 0.0, ("b",), find)
    assert not made and "find_candidates" not in repr(translation)
    assert translation.candidates == translation.candidates and made == [1]


def test_translations_are_compared_by_their_text_and_score():
    assert Translation(SourceRow("a"), "b", 0.5, ("b",), tuple) == Translation(
        SourceRow("a"), "b", 0.5, ("b",), lambda: None
    )
    assert Translation(SourceRow("a"), "b", 0.5, ("b",), tuple) != Translation(
        SourceRow("a"), "c", 0.5, ("b",), tuple
    )


def test_hypotheses_come_back_as_texts_and_tokens_in_their_order():
    tokenizer = word_tokenizer("the dog sleeps")
    rows = [tokenizer.encode(text).ids for text in ("the dog sleeps", "the dog")]
    hypotheses = [
        Hypothesis(rows[0], [-0.4, -0.6], -3.0, "eos"),
        Hypothesis(rows[1], [-2.0], -4.0, "length"),
    ]
    first, second = detokenized(tokenizer, hypotheses)
    assert (first.text, second.text) == ("the dog sleeps", "the dog")
    assert first.tokens == tuple(tokenizer.tokens(rows[0])) and first.ids == tuple(rows[0])
    assert (first.score, first.log_probability) == (hypotheses[0].score, hypotheses[0].log_probability)
    assert (first.finish_reason, second.finish_reason) == ("eos", "length")
    assert detokenized(tokenizer, []) == ()


def test_a_pair_score_is_the_sum_of_its_tokens_and_its_perplexity_their_mean():
    score = PairScore(Pair("a", "b"), ("b", "</s>"), (-1.0, -2.0))
    assert score.log_probability == -3.0 and score.perplexity == pytest.approx(math.exp(1.5))
    assert PairScore(Pair("a", "b"), (), (-0.1,) * 10).log_probability == -1.0  # not the sum of rounding errors
