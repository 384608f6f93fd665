"""Token selection: the most probable token, or a sample."""

import math

import numpy as np
import pytest
import torch

from regard.decoding.logits.sampler import TokenSampler
from regard.decoding.settings import TextDecoding, TranslationDecoding

LOG_P = torch.tensor([[4.0, 3.0, 2.0, 1.0]]).log_softmax(1)
V = LOG_P.size(1)


def select(step=0, log_p=LOG_P, rows=1, settings=None, **changes):
    sampler = TokenSampler(settings or TextDecoding(**changes))
    lines, samples = np.arange(rows), np.zeros(rows, np.int64)
    return sampler(log_p.expand(rows, -1), lines, samples, np.full(rows, step)).tolist()


@pytest.mark.parametrize("settings", [TextDecoding(temperature=0), TranslationDecoding(beam_size=1)])
def test_greedy_takes_the_most_probable_token(settings):
    assert select(rows=3, settings=settings) == [0, 0, 0]


@pytest.mark.parametrize("narrow", [{"top_k": 1}, {"top_p": 1e-6}, {"min_p": 1.0}, {"temperature": 1e-3}])
@pytest.mark.parametrize("kind", [TextDecoding, TranslationDecoding])
def test_the_narrowest_sampling_is_greedy(kind, narrow):
    settings = kind(method="sample", **narrow)
    assert {token for step in range(20) for token in select(step, settings=settings)} == {0}


def test_sampled_tokens_have_the_frequencies_of_the_warped_distribution():
    count = 4000
    tokens = torch.tensor(select(rows=count, temperature=2.0, top_k=3, seed=7))
    frequencies = torch.bincount(tokens, minlength=V) / count
    expected = torch.zeros(V)
    expected[:3] = (LOG_P[0, :3] / 2).softmax(0)
    assert (frequencies - expected).abs().max() < 3 * math.sqrt(0.25 / count)


def test_a_choice_depends_on_its_row_and_its_own_step():
    log_p, sampler = torch.randn(3, V).log_softmax(1), TokenSampler(TextDecoding(temperature=1.5))
    lines, samples, steps = np.array([4, 9, 4]), np.array([0, 1, 1]), np.array([2, 0, 7])
    together = sampler(log_p, lines, samples, steps)
    for row in range(3):
        one = slice(row, row + 1)
        assert sampler(log_p[one], lines[one], samples[one], steps[one]).tolist() == [together[row]]


def test_nan_gives_an_index_inside_the_vocabulary():
    assert select(log_p=torch.full((1, V), torch.nan))[0] < V
