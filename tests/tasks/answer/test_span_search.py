"""The best answers by their scores."""

import numpy as np
import pytest

from regard.data.encoding.question_windows import encode_questions
from regard.data.encoding.templates import SequenceTemplate
from regard.data.sources.squad import QuestionRow
from regard.tasks.answer.pipeline import QuestionAndContext, build_answer
from regard.tasks.answer.span_search import SpanCandidate, SpanCandidates, best_spans, search_answers
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer


def brute_force(scores, max_tokens):
    spans = [
        (scores[first, 0] + scores[last, 1], first, last)
        for first in range(1, len(scores))
        for last in range(first, min(len(scores), first + max_tokens))
    ]
    return sorted(spans, reverse=True)


@pytest.mark.parametrize("max_tokens", [1, 3, 50])
def test_the_best_spans_are_those_of_brute_force(max_tokens):
    scores = np.random.default_rng(0).normal(size=(30, 2))
    spans = best_spans(scores, max_tokens, 7)
    assert spans == brute_force(scores, max_tokens)[:7]
    assert all(0 < first <= last < first + max_tokens for _, first, last in spans)


def test_a_window_without_text_has_no_span():
    assert best_spans(np.zeros((1, 2)), 5) == []
    assert len(best_spans(np.zeros((2, 2)), 5)) == 1


def test_windows_of_one_text_are_merged():
    settings = TokenizerSettings(kind="wordpiece", special_tokens="bert", size=80, min_frequency=1)
    tokenizer = train_tokenizer(["a b c d e f g h x"], settings)
    question = QuestionRow("1", "x", "a b c d e f g h", ())
    encoded = encode_questions([question], tokenizer, SequenceTemplate.of(tokenizer, is_for_encoder=True), 9, 3)
    assert len(encoded) == 2  # a to e, and d to h
    low = np.full((6, 2), -5.0)
    first, second = low.copy(), low.copy()
    first[0], second[0] = 4.0, 1.0
    first[4, 0] = first[5, 1] = 2.0  # d e
    second[1, 0] = second[2, 1] = 3.0  # d e, with a higher score
    second[5] = 1.0  # h
    (candidates,) = search_answers(encoded, [first, second], 1, max_tokens=4)
    assert (
        candidates.spans[0] == SpanCandidate(6, 9, 6.0)
        and candidates.null_score == 2.0
        and candidates.null_score_gap == -4.0
    )
    offsets = [(each.begin, each.end) for each in candidates.spans]
    assert len(offsets) == len(set(offsets)) and (14, 15) in offsets


SPANS = SpanCandidates((SpanCandidate(0, 1, 5.0), SpanCandidate(2, 3, 4.0), SpanCandidate(4, 5, 1.0)), null_score=4.5)


def test_an_answer_is_always_given_without_a_threshold():
    result = build_answer(QuestionAndContext("q", "a b c"), SPANS, None, count=2)
    assert result.text == "a" and [each.text for each in result.others] == ["b"]
    assert sum(each.probability for each in (result.best, *result.others)) < 1.0


def test_no_answer_is_given_where_the_null_score_gap_exceeds_the_threshold():
    assert SPANS.null_score_gap == -0.5
    assert build_answer(QuestionAndContext("q", "a b c"), SPANS, 0.0).text == "a"
    silent = build_answer(QuestionAndContext("q", "a b c"), SPANS, -1.0, count=4)
    assert silent.text == "" and [each.text for each in silent.others] == ["a", "b", "c"]
    ranked = build_answer(QuestionAndContext("q", "a b c"), SPANS, 0.0, count=4)
    assert [each.text for each in (ranked.best, *ranked.others)] == ["a", "", "b", "c"]
    total = sum(each.probability for each in (ranked.best, *ranked.others))
    assert total == pytest.approx(1.0)


def test_a_text_without_any_span_is_no_answer():
    assert build_answer(QuestionAndContext("q", ""), SpanCandidates((), 1.0), None).text == ""
