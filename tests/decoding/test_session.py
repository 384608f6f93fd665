"""Continuing prompts: batched equals single, cached equals read anew, every filter as it is defined."""

import pytest
import torch
from torch.testing import assert_close

from generators import FAMILIES, generated_by_definition, small_model
from regard.config.resolve import Layer, resolve
from regard.decoding import session
from regard.decoding.logits.filters import keep_min_p
from regard.decoding.session import GenerationJob, GenerationSession, continue_prompts
from regard.decoding.settings import GenerateSettings
from regard.decoding.steppers.requests import Prompt
from regard.errors import ConfigError, DataError
from small import ENDS, random_tokens

LENGTHS = [5, 1, 3, 27, 9, 5]
PROMPTS = [
    Prompt([ENDS.eos_id, *random_tokens(1, length, seed=length)[0].tolist()], line=line)
    for line, length in enumerate(LENGTHS, start=4)
]
PROMPTS[1] = Prompt([ENDS.eos_id], line=2)  # an empty one
METHODS = {
    "greedy": {"temperature": 0},
    "draw": {"seed": 5},
    "samples": {"num_samples": 3, "temperature": 0.8},
    "top k": {"temperature": 1.5, "top_k": 5},
    "top p": {"top_p": 0.8},
    "min p": {"min_p": 0.05, "num_samples": 2},
    "all narrow": {"temperature": 1.2, "top_k": 12, "top_p": 0.9, "min_p": 0.02},
}
CONSTRAINTS = {
    "none": {},
    "repetition": {"repetition_penalty": 1.7},
    "ngrams": {"no_repeat_ngram_size": 2},
    "no word twice": {"no_repeat_ngram_size": 1, "max_new_tokens": 40},
    "min tokens": {"min_new_tokens": 18},
}


def job_for(model, settings, window=None):
    bound = model.max_positions
    return GenerationJob(model, ENDS, GenerateSettings(**{"max_new_tokens": 20} | settings), window or bound)


def assert_same(ours, theirs):
    for mine, other in zip(ours, theirs, strict=True):
        assert [row.said for row in mine] == [row.said for row in other]
        assert [row.finish_reason for row in mine] == [row.finish_reason for row in other]
        for row, again in zip(mine, other, strict=True):
            assert row.log_probabilities == pytest.approx(again.log_probabilities, abs=1e-4)


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("method", METHODS)
def test_what_is_said_follows_from_the_definition(method, constraint):
    model = small_model("gpt")
    job = job_for(model, METHODS[method] | CONSTRAINTS[constraint])
    found = continue_prompts(job, PROMPTS)
    for prompt, rows in zip(PROMPTS, found, strict=True):
        for sample, row in enumerate(rows):
            ids, values = generated_by_definition(model, prompt, job.settings, sample, job.window)
            assert row.said == ids and row.log_probabilities == pytest.approx(values, abs=1e-4)
            assert row.finish_reason == ("eos" if ids[-1] == ENDS.eos_id else "length")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("method", ["greedy", "samples"])
def test_every_family_cached_and_batched_equals_uncached_and_single(family, method):
    model = small_model(family)
    job = job_for(model, METHODS[method] | {"max_new_tokens": 30})
    found = continue_prompts(job, PROMPTS)
    assert_same(found, [continue_prompts(job, [prompt])[0] for prompt in PROMPTS])
    for prompt, rows in zip(PROMPTS, found, strict=True):
        for sample, row in enumerate(rows):
            ids, values = generated_by_definition(model, prompt, job.settings, sample, job.window)
            assert row.said == ids and row.log_probabilities == pytest.approx(values, abs=1e-4)


@pytest.mark.parametrize("family, window", [("gpt", 24), ("gpt", 7), ("rotary", 10), ("lstm", 6)])
def test_past_the_window_the_newest_half_is_read_anew(family, window):
    model = small_model(family)
    job = job_for(model, {"max_new_tokens": 60, "min_new_tokens": 60, "num_samples": 2}, window)
    for prompt, rows in zip(PROMPTS, continue_prompts(job, PROMPTS), strict=True):
        for sample, row in enumerate(rows):
            ids, values = generated_by_definition(model, prompt, job.settings, sample, window)
            assert len(ids) == 60 and row.said == ids
            assert row.log_probabilities == pytest.approx(values, abs=1e-4)


def test_samples_share_a_prompt_that_is_longer_than_they_are(monkeypatch):
    model = small_model("rotary")
    long = [Prompt([3, *random_tokens(1, length, seed=length)[0].tolist()], line=length) for length in (60, 75, 66)]
    job = job_for(model, {"num_samples": 4, "max_new_tokens": 12})
    continuing = GenerationSession(job, long)
    with job.working(3):
        while not continuing.is_done:
            continuing.step()
    found = [continuing.rows[begin : begin + 4] for begin in (0, 4, 8)]
    assert {row.finish_reason for row in continuing.rows} == {"eos", "length"}  # some left before others
    caches = continuing._stepper._state.caches
    assert caches[0].sentences <= 3  # one row a prompt, however many samples
    for prompt, rows in zip(long, found, strict=True):
        for sample, row in enumerate(rows):
            assert (row.said, pytest.approx(row.log_probabilities, abs=1e-4)) == generated_by_definition(
                model, prompt, job.settings, sample
            )


def test_rows_that_are_finished_leave():
    model = small_model("gpt")
    job = job_for(model, {"num_samples": 2, "max_new_tokens": 20})
    continuing = GenerationSession(job, PROMPTS[:3])
    sizes = []
    read = model.hidden_states
    model.hidden_states = lambda tokens, *rest: sizes.append(len(tokens)) or read(tokens, *rest)
    with job.working(3):
        while not continuing.is_done:
            continuing.step()
    assert sizes[0] == 3 and sizes[1] <= 6 and sizes[-1] < 6 and sizes[1:] == sorted(sizes[1:], reverse=True)
    assert sum(sizes[1:]) == sum(len(row.said) - 1 for row in continuing.rows)


def test_a_draw_depends_on_the_seed_and_the_number_of_the_prompt():
    model = small_model("gpt")
    said = [
        continue_prompts(job_for(model, {"seed": seed}), [Prompt([3, 7, 8], line=line)])[0][0].said
        for seed, line in ((1, 1), (1, 1), (2, 1), (1, 2))
    ]
    assert said[0] == said[1] and said[0] != said[2] and said[0] != said[3]
    many = continue_prompts(job_for(model, {"num_samples": 4}), [Prompt([3, 7, 8], line=1)])[0]
    assert many[0].said == said[0] and len({tuple(row.said) for row in many}) == 4


def test_prompts_that_do_not_fit_together_are_continued_apart(monkeypatch):
    model, sizes = small_model("gpt"), []
    job = job_for(model, {"num_samples": 2})
    expected = continue_prompts(job, PROMPTS)
    whole = session._continue_together

    def narrow(job, prompts):
        sizes.append(len(prompts))
        if len(prompts) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return whole(job, prompts)

    monkeypatch.setattr(session, "_continue_together", narrow)
    assert_same(continue_prompts(job, PROMPTS), expected)
    assert sizes == [6, 3, 1, 2, 3, 1, 2]

    def never(*_):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(session, "_continue_together", never)
    with pytest.raises(DataError) as error:
        continue_prompts(job, PROMPTS)
    assert str(error.value) == (
        "Out of memory on a single prompt of 6 tokens with 2 samples of up to 20 new tokens; use fewer, or a smaller "
        "context_window."
    )


def test_min_p_keeps_what_is_nearly_as_probable_as_the_best():
    chances = torch.tensor([[0.5, 0.3, 0.15, 0.05], [0.97, 0.01, 0.01, 0.01]])
    kept = keep_min_p(chances.log(), 0.2).exp()
    assert_close(kept, torch.tensor([[0.5, 0.3, 0.15, 0.0], [0.97, 0, 0, 0]]))


@pytest.mark.parametrize(
    "settings, sentence",
    [
        (
            {"temperature": 0.0, "top_p": 0.9},
            "top_p: 0.9 applies to sampling only; set temperature above 0, or omit it.",
        ),
        (
            {"temperature": 0, "num_samples": 2},
            "num_samples: 2 applies to sampling only; set temperature above 0, or omit it.",
        ),
        ({"min_new_tokens": 9, "max_new_tokens": 5}, "min_new_tokens: 9 is more than max_new_tokens 5."),
        ({"stop": ["a", ""]}, 'stop: "" matches everywhere; give a non-empty string, or omit it.'),
        ({"context_window": 0}, "context_window: 0 is out of range, it must be greater than or equal to 1."),
        (
            {"max_new_tokens": 0},
            "max_new_tokens: 0 is out of range, it must be greater than or equal to 1 (from here).",
        ),
        ({"min_p": 1.5}, "min_p: 1.5 is out of range, it must be less than or equal to 1 (from here)."),
        (
            {"max_new_tokns": 5},
            "max_new_tokns: unknown setting, given as 5 (from here); did you mean max_new_tokens?",
        ),
    ],
)
def test_settings_that_cannot_be_are_one_sentence(settings, sentence):
    with pytest.raises(ConfigError) as error:
        resolve(GenerateSettings, [Layer("here", settings)])
    assert str(error.value) == sentence
