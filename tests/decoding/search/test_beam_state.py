"""Beam search state: which candidates stay active, which are finished, when a sentence is done."""

import numpy as np
import pytest

from regard.decoding.search.beam_state import BeamState, Candidates
from regard.decoding.search.running import RunningRequest
from regard.decoding.settings import TranslationDecoding
from regard.decoding.steppers.interface import Request
from small import ENDS

END = ENDS.eos_id


def state_of(limits, text_of=None, **settings):
    settings = TranslationDecoding(**{"beam_size": 2, "length_penalty": "none"} | settings)
    state = BeamState(settings, END, False, text_of)
    running = [RunningRequest(Request([5], limit)) for limit in limits]
    state.admit(running)
    return state, running


def outputs(running):
    return [[(each.ids, each.score, each.finish_reason) for each in one.hypotheses] for one in running]


def candidates(totals, tokens, origins=None):
    totals, tokens = np.array(totals, float), np.array(tokens)
    origins = np.zeros_like(tokens) if origins is None else np.array(origins)
    return Candidates(totals, totals, origins, tokens, np.zeros((len(totals), 2)))


def test_candidates_that_end_finish_and_the_best_others_stay_active():
    state, running = state_of([9])
    moves = state.advance(candidates([[-1, -2, -3, -4]], [[5, END, 6, 7]]))
    assert moves.tokens.tolist() == [[5, 6]] and not moves.has_left
    assert state.totals.tolist() == [[-1, -3]] and [state.history.ids(row) for row in (0, 1)] == [[5], [6]]
    assert outputs(running) == [[([], -2.0, "eos")]] and not running[0].is_done


def test_an_end_below_the_best_of_the_beam_is_dropped():
    state, running = state_of([9])
    state.advance(candidates([[-1, -2, -3, -4]], [[5, 6, END, 7]]))
    assert outputs(running) == [[]]


def test_origins_reorder_the_past_and_the_log_probabilities_of_its_tokens():
    state, _ = state_of([9])
    state.advance(candidates([[-1, -2, -3, -4]], [[5, 6, 7, 8]]))
    moves = state.advance(candidates([[-2.5, -3, -4, -5]], [[10, 11, 12, 13]], [[1, 0, 1, 0]]))
    assert [state.history.ids(row) for row in (0, 1)] == [[6, 10], [5, 11]] and moves.origins.tolist() == [[1, 0]]
    assert [state.history.log_probabilities(row) for row in (0, 1)] == [[-2, -0.5], [-1, -2]]


def test_a_request_leaves_when_no_active_hypothesis_can_win():
    state, running = state_of([9, 9], beam_size=1)
    moves = state.advance(candidates([[-1, -5], [-1, -5]], [[END, 5], [5, END]]))
    assert moves.staying.tolist() == [1] and moves.has_left
    assert state.alive == running[1:] and len(state.history.lengths) == 1
    assert outputs(running) == [[([], -1.0, "eos")], []] and [each.is_done for each in running] == [True, False]


@pytest.mark.parametrize("penalty, expected", [("none", -3.0), ("average", -1.5)])
def test_at_its_limit_a_request_is_truncated(penalty, expected):
    state, running = state_of([2], length_penalty=penalty)
    state.advance(candidates([[-1, -2, -3, -4]], [[5, 6, 7, 8]]))
    assert state.advance(candidates([[-3, -4, -5, -6]], [[5, 6, 7, 8]])) is None
    ((best, second),) = outputs(running)
    assert best == ([5, 5], expected, "length") and second[0] == [5, 6]


def test_truncated_hypotheses_come_after_those_that_end():
    state, running = state_of([2])
    state.advance(candidates([[-1, -9, -10, -11]], [[5, END, 6, 7]]))
    assert state.advance(candidates([[-3, -4, -5, -6]], [[5, 6, 7, 8]])) is None
    assert outputs(running) == [[([], -9.0, "eos"), ([5, 5], -3.0, "length")]]


def test_a_hypothesis_whose_text_has_a_stop_string_is_finished():
    spelled = lambda request, ids: "".join("abcdefgh"[token - 4] for token in ids)
    state, running = state_of([9], text_of=spelled, stop=["cb"])
    state.advance(candidates([[-1, -2, -3, -4]], [[6, 7, 8, 9]]))  # c, d
    state.advance(candidates([[-2, -3, -4, -5]], [[5, 5, 6, 7]], [[0, 1, 0, 1]]))  # cb, db
    assert outputs(running) == [[([6, 5], -2.0, "stop")]]
    assert state.totals.tolist() == [[-np.inf, -3]]


def test_requests_that_join_have_lengths_and_limits_of_their_own():
    state, running = state_of([3], length_penalty="average")
    state.advance(candidates([[-1, -2, -3, -4]], [[5, 6, 7, 8]]))
    late = RunningRequest(Request([5], 3))
    state.admit([late])
    state.advance(candidates([[-2, -3, -4, -5], [-1, -2, -3, -4]], [[5, 6, 7, 8], [9, 10, 7, 8]]))
    moves = state.advance(candidates([[-3, -4, -5, -6], [-2, -4, -5, -6]], [[5, 6, 7, 8], [9, END, 7, 8]]))
    assert moves.staying.tolist() == [1] and running[0].is_done and not late.is_done
    assert outputs(running)[0][0] == ([5, 5, 5], -1.0, "length")
    assert outputs([late]) == [[([9], -2.0, "eos")]]
