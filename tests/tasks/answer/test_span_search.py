"""The best answers out of scores."""

import numpy as np
import pytest

from regard.data.encoding.question_windows import encode_questions
from regard.data.encoding.templates import SequenceTemplate
from regard.data.sources.squad import QuestionRow
from regard.tasks.answer.pipeline import build_answer
from regard.tasks.answer.span_search import Found, SpanCandidate, best_spans, find_answers
from regard.text.settings import TokenizerSettings
from regard.text.training import train_tokenizer


def brute_force(scores, longest):
    found = [
        (scores[first, 0] + scores[last, 1], first, last)
        for first in range(1, len(scores))
        for last in range(first, min(len(scores), first + longest))
    ]
    return sorted(found, reverse=True)


@pytest.mark.parametrize("longest", [1, 3, 50])
def test_the_best_spans_are_those_of_looking_at_all(longest):
    scores = np.random.default_rng(0).normal(size=(30, 2))
    found = best_spans(scores, longest, 7)
    assert found == brute_force(scores, longest)[:7]
    assert all(0 < first <= last < first + longest for _, first, last in found)


def test_a_window_without_text_has_no_span():
    assert best_spans(np.zeros((1, 2)), 5) == []
    assert len(best_spans(np.zeros((2, 2)), 5)) == 1


def test_windows_of_one_text_are_brought_together():
    settings = TokenizerSettings(kind="wordpiece", special_tokens="bert", size=80, min_frequency=1)
    tokenizer = train_tokenizer(["a b c d e f g h x"], settings)
    question = QuestionRow("1", "x", "a b c d e f g h", ())
    encoded = encode_questions([question], tokenizer, SequenceTemplate.of(tokenizer, is_for_encoder=True), 9, 3)
    assert len(encoded) == 2  # a to e, and d to h
    low = np.full((6, 2), -5.0)
    first, second = low.copy(), low.copy()
    first[0], second[0] = 4.0, 1.0
    first[4, 0] = first[5, 1] = 2.0  # d e
    second[1, 0] = second[2, 1] = 3.0  # d e, and surer
    second[5] = 1.0  # h
    (found,) = find_answers(encoded, [first, second], 1, longest=4)
    assert found.spans[0] == SpanCandidate(6, 9, 6.0) and found.nothing == 2.0 and found.null_score_gap == -4.0
    places = [(each.begin, each.end) for each in found.spans]
    assert len(places) == len(set(places)) and (14, 15) in places


SPANS = Found((SpanCandidate(0, 1, 5.0), SpanCandidate(2, 3, 4.0), SpanCandidate(4, 5, 1.0)), nothing=4.5)


def test_an_answer_is_always_given_by_a_model_that_knows_no_silence():
    found = build_answer("q", "a b c", SPANS, None, count=2)
    assert found.text == "a" and [each.text for each in found.others] == ["b"]
    assert sum(each.probability for each in (found.answer, *found.others)) < 1.0


def test_no_answer_is_given_where_its_margin_is_above_the_threshold():
    assert SPANS.null_score_gap == -0.5
    assert build_answer("q", "a b c", SPANS, 0.0).text == "a"
    silent = build_answer("q", "a b c", SPANS, -1.0, count=4)
    assert silent.text == "" and [each.text for each in silent.others] == ["a", "b", "c"]
    ranked = build_answer("q", "a b c", SPANS, 0.0, count=4)
    assert [each.text for each in (ranked.answer, *ranked.others)] == ["a", "", "b", "c"]
    total = sum(each.probability for each in (ranked.answer, *ranked.others))
    assert total == pytest.approx(1.0)


def test_a_text_without_any_span_is_no_answer():
    assert build_answer("q", "", Found((), 1.0), None).text == ""
