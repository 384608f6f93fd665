"""Beam search state: which candidates stay active, which are finished, when a sentence is done."""

import numpy as np
import pytest
import torch

from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.search.beam_state import BeamSequence, BeamState, Candidates
from regard.decoding.settings import DecodeSettings
from regard.decoding.steppers.interface import Hypothesis
from small import ENDS

END = ENDS.eos_id


def state_of(limits, **settings):
    settings = DecodeSettings(**{"beam_size": 2, "length_penalty": "none"} | settings)
    return BeamState(limits, LogitsProcessor(settings, ENDS, [None] * len(limits), torch.device("cpu")))


def candidates(totals, tokens, origins=None):
    totals, tokens = np.array(totals, float), np.array(tokens)
    origins = np.zeros_like(tokens) if origins is None else np.array(origins)
    return Candidates(totals, totals, origins, tokens, np.zeros((len(totals), 2)))


def test_the_best_hypotheses_are_kept_and_truncated_ones_come_last():
    sequence = BeamSequence(0, 10)
    for score, is_finished in ((-3.0, True), (-1.0, False), (-2.0, True), (-4.0, True)):
        sequence.finish(Hypothesis([], score, score, is_finished), beam_size=3)
    assert [(each.score, each.is_finished) for each in sequence.finished] == [
        (-2.0, True),
        (-3.0, True),
        (-4.0, True),
    ]


def test_candidates_that_end_finish_and_the_best_others_stay_active():
    state = state_of([9])
    moves = state.advance(candidates([[-1, -2, -3, -4]], [[5, END, 6, 7]]))
    assert moves.tokens.tolist() == [[5, 6]] and not moves.has_left
    assert state.totals.tolist() == [[-1, -3]] and state.past.tolist() == [[[5], [6]]]
    (finished,) = state.finished
    assert [(each.ids, each.score, each.is_finished) for each in finished] == [([], -2.0, True)]


def test_an_end_below_the_best_of_the_beam_is_dropped():
    state = state_of([9])
    state.advance(candidates([[-1, -2, -3, -4]], [[5, 6, END, 7]]))
    assert state.finished == [[]]


def test_origins_reorder_the_past():
    state = state_of([9])
    state.advance(candidates([[-1, -2, -3, -4]], [[5, 6, 7, 8]]))
    moves = state.advance(candidates([[-2, -3, -4, -5]], [[10, 11, 12, 13]], [[1, 0, 1, 0]]))
    assert state.past.tolist() == [[[6, 10], [5, 11]]] and moves.origins.tolist() == [[1, 0]]


def test_a_sentence_leaves_when_no_active_hypothesis_can_win():
    state = state_of([9, 9], beam_size=1)
    moves = state.advance(candidates([[-1, -5], [-1, -5]], [[END, 5], [5, END]]))
    assert moves.staying.tolist() == [1] and moves.has_left
    assert [each.number for each in state.alive] == [1] and len(state.past) == 1
    assert [[each.ids for each in finished] for finished in state.finished] == [[[]], []]


@pytest.mark.parametrize("penalty, expected", [("none", -3.0), ("average", -1.5)])
def test_at_its_limit_a_sentence_is_truncated(penalty, expected):
    state = state_of([2], length_penalty=penalty)
    state.advance(candidates([[-1, -2, -3, -4]], [[5, 6, 7, 8]]))
    assert state.advance(candidates([[-3, -4, -5, -6]], [[5, 6, 7, 8]])) is None
    ((best, second),) = state.finished
    assert (best.ids, best.is_finished, best.score) == ([5, 5], False, expected) and second.ids == [5, 6]
    assert not state.alive
