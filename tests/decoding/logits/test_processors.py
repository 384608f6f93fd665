"""Logits processing: which tokens are suppressed, and in which order the filters apply."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from regard.decoding.logits.history import History
from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.settings import TextDecoding, TranslationDecoding
from regard.decoding.steppers.interface import Request
from regard.text.prefix import exact_prefix
from small import ENDS

V = 8


def uniform():
    return torch.full((1, V), 1 / V).log()


def allowed(log_p):
    return set((log_p[0] > -torch.inf).nonzero()[:, 0].tolist())


def past(*ids, prefix=None, prompt=None):
    history = History(ENDS.eos_id, prompt is not None)
    history.admit([Request(prompt or [9], 99, prefix=prefix)], 1)
    for token in ids:
        history.append(np.array([token]), np.array([-1.0]))
    return history


def processor(kind=TranslationDecoding, **settings):
    return LogitsProcessor(kind(**settings), ENDS, torch.zeros(V, 2))


def test_suppressed_ids_are_masked_and_eos_only_until_the_minimum_length():
    words = set(range(V)) - set(ENDS.never)
    assert allowed(processor()(uniform(), past())) == words
    for length, is_early in ((0, True), (1, True), (2, False)):
        expected = words - {ENDS.eos_id} if is_early else words
        assert allowed(processor(min_length=3)(uniform(), past(*[5] * length))) == expected
        assert allowed(processor(TextDecoding, min_new_tokens=3)(uniform(), past(*[5] * length))) == expected


def test_a_repetition_penalty_multiplies_log_probabilities_of_past_tokens():
    process = processor(repetition_penalty=2.0)
    assert process.changes_values and not processor().changes_values
    expected = uniform()
    expected[0, list(ENDS.never)] = -torch.inf
    expected[0, 5] *= 2
    assert_close(process(uniform(), past(5, 5)), expected)
    assert_close(process(uniform(), past(5, prompt=[ENDS.eos_id, 5])), expected)
    expected[0, 6] *= 2
    assert_close(process(uniform(), past(5, prompt=[ENDS.eos_id, 6])), expected)  # a prompt counts, but not its EOS


def test_no_ngram_is_completed_twice():
    process, words = processor(no_repeat_ngram_size=2), set(range(V)) - set(ENDS.never)
    assert allowed(process(uniform(), past(4, 6, 5, 4))) == words - {6}
    assert allowed(process(uniform(), past(5, 4, prompt=[4, 6]))) == words - {6}


def test_eos_is_allowed_early_where_no_other_token_is_left():
    words = [token for token in range(V) if token not in (*ENDS.never, ENDS.eos_id)]
    process = processor(no_repeat_ngram_size=1, min_length=20)
    log_p = uniform()
    assert allowed(process(log_p, past(*words))) == {ENDS.eos_id}
    assert log_p[0, ENDS.eos_id] == uniform()[0, ENDS.eos_id]  # its log probability is the model's
    assert allowed(process(uniform(), past(*words[1:]))) == {words[0]}


@pytest.mark.parametrize("ids, expected", [([], {5}), ([5], {6}), ([5, 6], set(range(V)) - set(ENDS.never) - {5, 6})])
def test_rows_inside_their_prefix_are_restricted_to_it_despite_other_filters(ids, expected):
    process = processor(no_repeat_ngram_size=1)
    assert allowed(process(uniform(), past(*ids, prefix=exact_prefix([5, 6])))) == expected


def test_rows_of_different_lengths_are_processed_as_if_each_was_alone():
    rows = [past(4, 6), past(5, 4, 7), past()]
    together = History(ENDS.eos_id, has_prompts=False)
    together.admit([Request([9], 99)], 1)
    for step, ids in enumerate(([5], [4, 4], [7, 6])):  # the second joins at the second step
        if step == 1:
            together.admit([Request([9], 99)], 1)
        together.append(np.array(ids), np.zeros(len(ids)))
    together.admit([Request([9], 99)], 1)
    log_p = torch.randn(3, V).log_softmax(1)
    settings = {"repetition_penalty": 1.5, "no_repeat_ngram_size": 1, "min_length": 4}
    found = processor(**settings)(log_p.clone(), together)
    for row, alone in zip((1, 0, 2), rows, strict=True):
        assert_close(found[row : row + 1], processor(**settings)(log_p[row : row + 1].clone(), alone))
