"""Logits processing: which tokens are suppressed, and in which order the filters apply."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.settings import DecodeSettings
from regard.text.prefix import exact_prefix
from small import ENDS

V = 8
NO_PAST = np.zeros((1, 0), np.int64)
FIRST = np.zeros(1, np.int64)


def uniform():
    return torch.full((1, V), 1 / V).log()


def allowed(log_p):
    return set((log_p[0] > -torch.inf).nonzero()[:, 0].tolist())


def processor(prefix=None, **settings):
    return LogitsProcessor(DecodeSettings(**settings), ENDS, [prefix], torch.device("cpu"))


def test_suppressed_ids_are_masked_and_eos_only_until_the_minimum_length():
    words = set(range(V)) - set(ENDS.never)
    assert allowed(processor()(uniform(), NO_PAST, FIRST)) == words
    for length, is_early in ((0, True), (1, True), (2, False)):
        past = np.full((1, length), 5)
        expected = words - {ENDS.eos_id} if is_early else words
        assert allowed(processor(min_length=3)(uniform(), past, FIRST)) == expected


def test_a_repetition_penalty_multiplies_log_probabilities_of_past_tokens():
    process = processor(repetition_penalty=2.0)
    assert process.changes_values and not processor().changes_values
    log_p = process(uniform(), np.array([[5, 5]]), FIRST)
    expected = uniform()
    expected[0, list(ENDS.never)] = -torch.inf
    expected[0, 5] *= 2
    assert_close(log_p, expected)


def test_no_ngram_is_completed_twice():
    log_p = processor(no_repeat_ngram_size=2)(uniform(), np.array([[4, 6, 5, 4]]), FIRST)
    assert allowed(log_p) == set(range(V)) - set(ENDS.never) - {6}


def test_eos_is_allowed_early_where_no_other_token_is_left():
    words = [token for token in range(V) if token not in (*ENDS.never, ENDS.eos_id)]
    process = processor(no_repeat_ngram_size=1, min_length=20)
    assert allowed(process(uniform(), np.array([words]), FIRST)) == {ENDS.eos_id}
    assert allowed(process(uniform(), np.array([words[1:]]), FIRST)) == {words[0]}


@pytest.mark.parametrize(
    "past, expected", [([], {5}), ([5], {6}), ([5, 6], set(range(V)) - set(ENDS.never) - {5, 6})]
)
def test_rows_inside_their_prefix_are_restricted_to_it_despite_other_filters(past, expected):
    process = processor(exact_prefix([5, 6]), no_repeat_ngram_size=1)
    assert process.prefix_steps == 2
    assert allowed(process(uniform(), np.array([past], np.int64).reshape(1, -1), FIRST)) == expected
