"""Token selection of text generation: constraints, greedy choice, sampling."""

import math

import pytest
import torch

from regard.decoding.logits.sampler import TokenSampler
from regard.decoding.settings import GenerateSettings
from regard.decoding.steppers.requests import Prompt, RunningSequence
from regard.errors import CheckpointError
from small import ENDS

V = 8
LOGITS = torch.tensor([[9.0, 9.0, 9.0, 0.0, 4.0, 3.0, 2.0, 1.0]])  # suppressed ids first


def rows(*pasts):
    return [RunningSequence(Prompt([4], line=number), 0, list(past), None) for number, past in enumerate(pasts)]


def select(past=(4,), step=0, logits=LOGITS, **settings):
    sampler = TokenSampler(GenerateSettings(**settings), ENDS, torch.zeros(V, 2))
    (choice,) = sampler(logits, rows(past), step)
    return choice


def test_greedy_takes_the_most_probable_token_that_is_not_suppressed():
    token, log_probability = select(temperature=0)
    assert token == 4
    assert log_probability == pytest.approx(LOGITS[0].log_softmax(0)[4].item(), abs=1e-6)


def test_past_tokens_are_penalized_and_ngrams_not_repeated():
    assert select(past=[4, 4], temperature=0, repetition_penalty=50)[0] == 5
    assert select(past=[4, 5, 4, 6, 4], temperature=0, no_repeat_ngram_size=2)[0] == 4
    assert select(past=[4, 4, 5, 4], temperature=0, no_repeat_ngram_size=2)[0] == 6
    assert select(past=[4, 5, 6, 7], temperature=0, no_repeat_ngram_size=1, min_new_tokens=9)[0] == ENDS.eos_id


def test_eos_waits_for_the_minimum_number_of_new_tokens():
    logits = torch.zeros(1, V)
    logits[0, ENDS.eos_id] = 20.0
    tokens = [select(step=step, logits=logits, temperature=0, min_new_tokens=3)[0] for step in range(4)]
    assert [token == ENDS.eos_id for token in tokens] == [False, False, True, True]


@pytest.mark.parametrize("narrow", [{"top_k": 1}, {"top_p": 1e-6}, {"min_p": 1.0}, {"temperature": 1e-3}])
def test_the_narrowest_sampling_is_greedy(narrow):
    assert {select(step=step, **narrow)[0] for step in range(20)} == {4}


def test_sampled_tokens_have_the_frequencies_of_the_warped_distribution():
    count, settings = 4000, GenerateSettings(temperature=2.0, top_k=3, seed=7)
    batch = rows(*[[4]] * count)
    sampler = TokenSampler(settings, ENDS, torch.zeros(V, 2))
    tokens = torch.tensor([token for token, _ in sampler(LOGITS.expand(count, -1), batch, 0)])
    frequencies = torch.bincount(tokens, minlength=V) / count
    expected = torch.zeros(V)
    expected[4:7] = (LOGITS[0, 4:7] / 2).softmax(0)
    assert (frequencies - expected).abs().max() < 3 * math.sqrt(0.25 / count)


def test_a_choice_depends_on_its_row_alone():
    logits = torch.randn(3, V, generator=torch.Generator().manual_seed(0))
    sampler = TokenSampler(GenerateSettings(repetition_penalty=1.5), ENDS, torch.zeros(V, 2))
    batch = rows([4], [5, 6, 7], [6])
    together = sampler(logits, batch, 2)
    for number, row in enumerate(batch):
        (alone,) = sampler(logits[number : number + 1], [row], 2)
        assert together[number] == pytest.approx(alone)


def test_weights_that_are_nan_are_one_sentence():
    with pytest.raises(CheckpointError) as error:
        select(logits=torch.full((1, V), torch.nan))
    assert str(error.value) == "The model gives no probabilities: its weights are not numbers; use another one."
