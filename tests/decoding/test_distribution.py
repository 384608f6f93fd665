"""Tokens one by one are those of the engine, and each stage is a distribution over fewer tokens."""

import pytest
import torch
from torch.testing import assert_close

from generators import small_model
from regard.decoding.distribution import generate_steps, next_distribution
from regard.decoding.generate import generate
from regard.decoding.session import GenerationJob
from regard.decoding.settings import TextDecoding, TranslationDecoding
from regard.decoding.steppers.interface import Request
from small import ENDS, ending_model

CALLS = [
    {"temperature": 0.8, "top_k": 12, "top_p": 0.9, "min_p": 0.02},
    {"repetition_penalty": 1.7},
    {"method": "beam", "beam_size": 1},
    {"temperature": 0.0},
]


@pytest.mark.parametrize("options", CALLS)
def test_tokens_are_those_of_the_engine(options):
    job = GenerationJob([small_model("gpt").float()], ENDS, TextDecoding(max_new_tokens=10, **options))
    request = Request([3, 8, 9], 10, 5)
    (expected,) = generate(job, [request])[0]
    made = list(generate_steps(job, request))
    ids = [each.id for each in made]
    assert ids[: len(expected.ids)] == expected.ids and made[-1].is_last
    values = [each.probability for each in made]
    assert values == pytest.approx(torch.tensor(expected.token_log_probabilities).exp().tolist(), abs=1e-5)


def test_a_translator_generates_step_by_step_too():
    job = GenerationJob([ending_model()], ENDS, TranslationDecoding(beam_size=1))
    request = Request([5, 6, 7, 3], 10)
    (expected,) = generate(job, [request])[0]
    ids = [each.id for each in generate_steps(job, request)]
    assert ids[: len(expected.ids)] == expected.ids


def test_each_stage_leaves_fewer_tokens_and_adds_up_to_one():
    settings = TextDecoding(max_new_tokens=4, temperature=0.7, top_k=9, top_p=0.8, min_p=0.05)
    job = GenerationJob([small_model("gpt").float()], ENDS, settings)
    for each in generate_steps(job, Request([3, 8, 9], 4)):
        assert list(each.stages) == ["model", "constraints", "temperature", "top_k", "top_p", "min_p"]
        kept = [int((stage > 0).sum()) for stage in each.stages.values()]
        assert kept == sorted(kept, reverse=True) and kept[3] <= 9
        for stage in each.stages.values():
            assert float(stage.sum()) == pytest.approx(1, abs=1e-5)
        assert float(each.stages["min_p"][each.id]) > 0


def test_the_next_distribution_is_that_of_the_whole_text_at_once():
    model = small_model("gpt").float()
    job = GenerationJob([model], ENDS, TextDecoding())
    after = next_distribution(job, Request([3, 8, 9], 4), [7, 5])
    with torch.inference_mode():
        expected = model.project(model.hidden_states(torch.tensor([[3, 8, 9, 7, 5]])))[0, -1].softmax(-1)
    assert_close(after, expected.float(), atol=1e-5, rtol=0)
