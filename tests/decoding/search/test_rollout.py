"""Greedy search and sampling over a table of next-token probabilities."""

import numpy as np
import pytest
import torch

from regard.decoding.logits.counter_uniforms import counter_uniforms
from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.search.rollout import greedy, rollout, sample
from regard.decoding.settings import DecodeSettings
from small import ENDS

V = 8
TABLE = (2 * torch.randn(V, V, generator=torch.Generator().manual_seed(3))).log_softmax(1)
TABLE[4, ENDS.eos_id] = 3.0  # after 4 comes the end


class Bigrams:
    """A stepper whose next-token scores depend on the newest token alone; keeps the rows of every step."""

    def __init__(self, rows):
        self.sentences, self.sizes = torch.arange(rows), []

    def step(self, tokens):
        assert len(tokens) == len(self.sentences)
        self.sizes.append(len(tokens))
        return TABLE[tokens].clone()

    def reorder(self, hypotheses, sentences=None):
        self.sentences = self.sentences[hypotheses]


def processor(count, **settings):
    return LogitsProcessor(DecodeSettings(**settings), ENDS, [None] * count, torch.device("cpu"))


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
    hypotheses = greedy(Bigrams(3), limits, processor(3, beam_size=1, length_penalty="none"))
    for (hypothesis,), limit in zip(hypotheses, limits, strict=True):
        ids, total, is_finished = by_definition(limit)
        assert (hypothesis.ids, hypothesis.is_finished) == (ids, is_finished)
        assert hypothesis.score == hypothesis.log_probability == pytest.approx(total, abs=1e-4)


def test_finished_rows_leave_the_batch_and_results_keep_their_order():
    stepper = Bigrams(3)
    choose = lambda log_p, numbers, step: torch.tensor([ENDS.eos_id if n == step else 4 + n for n in numbers])
    hypotheses = rollout(stepper, [9, 9, 9], processor(3), choose)
    assert [each.ids for each in hypotheses] == [[], [5], [6, 6]]
    assert stepper.sizes == [3, 2, 1]


def test_a_penalty_changes_the_score_but_not_the_log_probability():
    settings = {"length_penalty": "none", "beam_size": 1, "repetition_penalty": 3.0}
    choose = lambda log_p, numbers, step: torch.tensor([5])
    (plain,) = rollout(Bigrams(1), [3], processor(1, length_penalty="none"), choose)
    (penalized,) = rollout(Bigrams(1), [3], processor(1, **settings), choose)
    assert plain.ids == penalized.ids == [5, 5, 5]
    assert penalized.log_probability == pytest.approx(plain.log_probability)
    assert penalized.score < plain.score


def test_samples_are_the_counter_s_and_ordered_by_score():
    settings = processor(2, method="sample", num_samples=3, seed=9)
    hypotheses = sample(Bigrams(2), [1, 1], settings, [11, 12])
    log_p = TABLE[ENDS.bos_id].clone()
    log_p[list(ENDS.never)] = -torch.inf
    cumulative = log_p.softmax(0).double().cumsum(0)
    for line, found in zip((11, 12), hypotheses, strict=True):
        scores = [each.score for each in found]
        assert scores == sorted(scores, reverse=True)
        uniforms = counter_uniforms(9, np.full(3, line), np.arange(3), 0)
        expected = sorted(int((cumulative <= u * cumulative[-1]).sum()) for u in torch.from_numpy(uniforms))
        tokens = sorted(each.ids[0] if each.ids else ENDS.eos_id for each in found)
        assert tokens == expected
