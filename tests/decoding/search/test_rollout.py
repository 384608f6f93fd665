"""Greedy search and sampling over a table of next-token probabilities."""

import numpy as np
import pytest
import torch

from regard.decoding.logits.counter_uniforms import counter_uniforms
from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.search.rollout import Rollout
from regard.decoding.search.running import RunningRequest
from regard.decoding.settings import TranslationDecoding
from regard.decoding.steppers.interface import Request
from regard.errors import CheckpointError
from small import ENDS

V = 8
TABLE = (2 * torch.randn(V, V, generator=torch.Generator().manual_seed(3))).log_softmax(1)
TABLE[4, ENDS.eos_id] = 3.0  # after 4 comes the end


class Bigrams:
    """A stepper whose next-token scores depend on the newest token alone; keeps the rows of every step."""

    has_prompts = False

    def __init__(self):
        self.rows, self.sizes = 0, []

    def admit(self, requests, hypotheses=1, is_shared=True):
        self.rows += len(requests) * hypotheses
        return TABLE[torch.full((len(requests),), ENDS.bos_id)].clone()

    def step(self, tokens):
        assert len(tokens) == self.rows
        self.sizes.append(len(tokens))
        return TABLE[tokens].clone()

    def reorder(self, rows, requests=None):
        self.rows = len(rows)


def generated(limits, lines=None, kind=TranslationDecoding, **settings):
    """Return the hypotheses of requests with some limits, and the stepper."""
    stepper = Bigrams()
    rollout = Rollout(lambda: stepper, LogitsProcessor(kind(**settings), ENDS, torch.zeros(V, 2)))
    lines = lines or range(len(limits))
    running = [RunningRequest(Request([5], limit, line)) for limit, line in zip(limits, lines, strict=True)]
    rollout.step(running)
    while not rollout.is_idle:
        rollout.step([])
    return [each.hypotheses for each in running], stepper


def by_definition(limit):
    ids, token, total = [], ENDS.bos_id, 0.0
    while len(ids) < limit:
        log_p = TABLE[token].log_softmax(0)
        log_p[list(ENDS.never)] = -torch.inf
        token = int(log_p.argmax())
        total += log_p[token].item()
        if token == ENDS.eos_id:
            return ids, total, True
        ids.append(token)
    return ids, total, False


def test_greedy_follows_the_most_probable_tokens_to_the_end_or_the_limit():
    limits = [1, 2, 30]
    hypotheses, _ = generated(limits, beam_size=1, length_penalty="none")
    for (hypothesis,), limit in zip(hypotheses, limits, strict=True):
        ids, total, is_finished = by_definition(limit)
        assert (hypothesis.ids, hypothesis.finish_reason) == (ids, "eos" if is_finished else "length")
        assert hypothesis.score == pytest.approx(hypothesis.log_probability) == pytest.approx(total, abs=1e-4)
        assert len(hypothesis.token_log_probabilities) == len(ids) + is_finished


def test_finished_rows_leave_the_batch_and_results_keep_their_order():
    hypotheses, stepper = generated([3, 1, 2], beam_size=1, min_length=3)
    assert [len(each[0].ids) for each in hypotheses] == [3, 1, 2]
    assert stepper.sizes == [2, 1]


def test_a_penalty_changes_the_score_but_not_the_log_probability():
    settings = {"length_penalty": "none", "beam_size": 1, "min_length": 9}
    ((plain,),), _ = generated([9], **settings)
    ((penalized,),), _ = generated([9], **settings, repetition_penalty=1.001)
    assert plain.ids == penalized.ids and len(set(plain.ids)) < 9
    assert penalized.log_probability == pytest.approx(plain.log_probability)
    assert penalized.score < plain.score


def test_samples_are_the_counter_s_in_the_order_of_their_numbers():
    hypotheses, _ = generated([1, 1], [11, 12], method="sample", num_samples=3, seed=9)
    log_p = TABLE[ENDS.bos_id].clone()
    log_p[list(ENDS.never)] = -torch.inf
    cumulative = log_p.softmax(0).double().cumsum(0)
    for line, found in zip((11, 12), hypotheses, strict=True):
        uniforms = counter_uniforms(9, np.full(3, line), np.arange(3), 0)
        expected = [int((cumulative <= u * cumulative[-1]).sum()) for u in torch.from_numpy(uniforms)]
        assert [each.ids[0] if each.ids else ENDS.eos_id for each in found] == expected


def test_a_cancelled_request_leaves_at_once():
    stepper = Bigrams()
    settings = TranslationDecoding(method="sample", num_samples=2, min_length=9)
    rollout = Rollout(lambda: stepper, LogitsProcessor(settings, ENDS, torch.zeros(V, 2)))
    running = [RunningRequest(Request([5], 9, line)) for line in range(3)]
    rollout.step(running)
    rollout.cancel(running[1])
    rollout.step([])
    assert stepper.sizes == [4]
    for each in (running[0], running[2]):
        rollout.cancel(each)
    assert rollout.is_idle and not any(each.is_done for each in running)


def test_weights_that_are_nan_are_one_sentence(monkeypatch):
    monkeypatch.setattr("test_rollout.TABLE", torch.full((V, V), torch.nan))
    with pytest.raises(CheckpointError) as error:
        generated([3], beam_size=1)
    assert str(error.value) == "The model gives no probabilities: its weights are not numbers; use another one."
