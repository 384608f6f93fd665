"""Continuing prompts: batched equals single, cached equals read anew, every filter as it is defined."""

from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from generators import FAMILIES, generated_by_definition, small_model
from regard.config.resolve import Layer, resolve
from regard.decoding import generate as entry
from regard.decoding.generate import generate
from regard.decoding.logits.filters import keep_min_p
from regard.decoding.session import GenerationJob, GenerationSession
from regard.decoding.settings import TextDecoding, TranslationDecoding
from regard.decoding.steppers.interface import Request
from regard.errors import ConfigError, DataError
from small import ENDS, ending_model, random_tokens, requests_of, sources

LENGTHS = [5, 1, 3, 27, 9, 5]
PROMPTS = [
    Request([ENDS.eos_id, *random_tokens(1, length, seed=length)[0].tolist()], 20, line)
    for line, length in enumerate(LENGTHS, start=4)
]
PROMPTS[1] = Request([ENDS.eos_id], 20, 2)  # an empty one
METHODS = {
    "greedy": {"temperature": 0},
    "draw": {"seed": 5},
    "samples": {"num_samples": 3, "temperature": 0.8},
    "top k": {"temperature": 1.5, "top_k": 5},
    "top p": {"top_p": 0.8},
    "min p": {"min_p": 0.05, "num_samples": 2},
    "all narrow": {"temperature": 1.2, "top_k": 12, "top_p": 0.9, "min_p": 0.02},
}
BEAM = {"method": "beam", "beam_size": 3}
CONSTRAINTS = {
    "none": {},
    "repetition": {"repetition_penalty": 1.7},
    "ngrams": {"no_repeat_ngram_size": 2},
    "no word twice": {"no_repeat_ngram_size": 1, "max_new_tokens": 40},
    "min tokens": {"min_new_tokens": 18},
}


def job_for(model, settings, window=None):
    asked = TextDecoding(**{"max_new_tokens": 20} | settings)
    return GenerationJob([model], ENDS, asked, window or model.max_positions)


def requests_for(job, prompts=PROMPTS):
    return [replace(each, limit=job.settings.max_new_tokens) for each in prompts]


def new_ids(hypothesis):
    """Return the new tokens, EOS included."""
    return [*hypothesis.ids, *[ENDS.eos_id] * (hypothesis.finish_reason == "eos")]


def assert_same(ours, theirs):
    for mine, other in zip(ours, theirs, strict=True):
        assert [(each.ids, each.finish_reason) for each in mine] == [(each.ids, each.finish_reason) for each in other]
        for each, again in zip(mine, other, strict=True):
            assert each.token_log_probabilities == pytest.approx(again.token_log_probabilities, abs=1e-4)
            assert each.score == pytest.approx(again.score, abs=1e-4)


def assert_as_defined(job, requests, found):
    """Compare samples with generation by its definition."""
    for request, samples in zip(requests, found, strict=True):
        for sample, each in enumerate(samples):
            ids, values = generated_by_definition(job.models[0], request, job.settings, sample, job.window)
            assert new_ids(each) == ids and each.token_log_probabilities == pytest.approx(values, abs=1e-4)
            assert each.finish_reason == ("eos" if ids[-1] == ENDS.eos_id else "length")


def run(session):
    """Step a session to its end."""
    with session.job.working(1):
        while not session.is_done:
            session.step()


def counted(module, name, sizes):
    """Let a method of a model note the rows of each call."""
    method = getattr(module, name)
    setattr(module, name, lambda tokens, *rest: sizes.append(len(tokens)) or method(tokens, *rest))


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("method", METHODS)
def test_the_output_follows_from_the_definition(method, constraint):
    job = job_for(small_model("gpt"), METHODS[method] | CONSTRAINTS[constraint])
    assert_as_defined(job, requests_for(job), generate(job, requests_for(job)))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("method", ["greedy", "samples", "beam"])
def test_every_family_cached_and_batched_equals_uncached_and_single(family, method):
    job = job_for(small_model(family), METHODS.get(method, BEAM) | {"max_new_tokens": 30})
    requests = requests_for(job)
    found = generate(job, requests)
    assert_same(found, [generate(job, [each])[0] for each in requests])
    if method != "beam":
        assert_as_defined(job, requests, found)


@pytest.mark.parametrize("family, window", [("gpt", 24), ("gpt", 7), ("rotary", 10), ("lstm", 6)])
def test_past_the_window_the_newest_half_is_prefilled_anew(family, window):
    job = job_for(small_model(family), {"max_new_tokens": 60, "min_new_tokens": 60, "num_samples": 2}, window)
    found = generate(job, requests_for(job))
    assert all(len(new_ids(each)) == 60 for samples in found for each in samples)
    assert_as_defined(job, requests_for(job), found)


def test_samples_share_a_prompt_that_is_longer_than_they_are():
    job = job_for(small_model("rotary"), {"num_samples": 4, "max_new_tokens": 12})
    ids = [[3, *random_tokens(1, length, seed=length)[0].tolist()] for length in (60, 75, 66)]
    requests = [Request(each, 12, line) for line, each in enumerate(ids)]
    session, rows = GenerationSession(job, requests), []
    running = list(session.running)
    with job.working(3):
        while not session.is_done:
            session.step()
            if not session.is_done:
                rows.append(session._search._stepper._state.caches[0].sentences)
    assert max(rows) <= 3  # one row a prompt, however many samples
    found = [each.hypotheses for each in running]
    assert {each.finish_reason for samples in found for each in samples} == {
        "eos",
        "length",
    }
    assert_as_defined(job, requests, found)


def test_rows_that_are_finished_leave():
    job, sizes = job_for(small_model("gpt"), {"num_samples": 2}), []
    counted(job.models[0], "hidden_states", sizes)
    found = generate(job, PROMPTS[:3])
    assert sizes[0] == 3 and sizes[1] <= 6 and sizes[-1] < 6 and sizes[1:] == sorted(sizes[1:], reverse=True)
    assert sum(sizes[1:]) == sum(len(new_ids(each)) - 1 for samples in found for each in samples)


def test_a_sample_depends_on_the_seed_and_the_number_of_the_prompt():
    model = small_model("gpt")
    first, again, seeded, numbered = (
        generate(job_for(model, {"seed": seed}), [Request([3, 7, 8], 20, line)])[0][0].ids
        for seed, line in ((1, 1), (1, 1), (2, 1), (1, 2))
    )
    assert first == again and first != seeded and first != numbered
    (many,) = generate(job_for(model, {"num_samples": 4}), [Request([3, 7, 8], 20, 1)])
    assert many[0].ids == first and len({tuple(each.ids) for each in many}) == 4


def translating(settings):
    """Return a job of a translator, and requests of different lengths."""
    asked = TranslationDecoding(**settings, max_length_ratio=1, max_length_extra=9)
    return GenerationJob([ending_model()], ENDS, asked), requests_of(*sources([9, 3, 7, 5, 1, 9]), asked)


def continuing(settings):
    """Return a job of a language model, and requests of different lengths."""
    job = job_for(small_model("gpt"), {"max_new_tokens": 30} | settings)
    return job, requests_for(job)


@pytest.mark.parametrize("kind", [translating, continuing])
@pytest.mark.parametrize(
    "settings",
    [
        {"method": "sample", "temperature": 0},
        {"method": "sample", "num_samples": 3},
        {"method": "sample", "repetition_penalty": 1.5, "no_repeat_ngram_size": 2},
        {"method": "beam", "beam_size": 3},
        {"method": "beam", "beam_size": 2, "repetition_penalty": 1.5},
    ],
    ids=str,
)
def test_a_request_that_joins_equals_one_that_is_alone(kind, settings):
    job, requests = kind(settings)
    session, running = GenerationSession(job), []
    with job.working(len(requests)):
        for each in requests:
            running += session.admit([each])
            session.step()
            session.step()
        cancelled = session.admit([requests[0]])[0]
        session.step()
        session.cancel(cancelled)
    run(session)
    assert not cancelled.is_done
    assert_same([each.hypotheses for each in running], [generate(job, [each])[0] for each in requests])


def test_a_request_that_joins_a_search_with_coverage_equals_one_that_is_alone():
    job, requests = translating({"coverage_penalty": 0.3, "beam_size": 3})
    session = GenerationSession(job, requests[:2])
    running = list(session.running)
    with job.working(2):
        session.step()
        running += session.admit(requests[2:])
    run(session)
    assert_same([each.hypotheses for each in running], [generate(job, [each])[0] for each in requests])


@pytest.mark.parametrize("method", ["sample", "beam"])
@pytest.mark.parametrize("kind", [translating, continuing])
def test_requests_share_forward_passes_and_a_late_one_is_not_kept_waiting(kind, method):
    lengths = {"min_length": 200} if kind is translating else {"min_new_tokens": 200, "max_new_tokens": 200}
    job, (first, second, *_) = kind({"method": method, **lengths})
    first, second = replace(first, limit=200), replace(second, limit=9)
    job = replace(job, window=None, models=[small_model("rotary")] if kind is continuing else job.models)
    sizes = []
    counted(job.models[0], "decode" if kind is translating else "hidden_states", sizes)
    session = GenerationSession(job, [first])
    (long,) = session.running
    with job.working(2):
        for _ in range(50):
            session.step()
        assert len(sizes) == 50
        (late,) = session.admit([second], is_streamed=False)
        session.step()
        assert len(sizes) == 52  # the one they share, and that which takes in the request
        for _ in range(8):
            session.step()
        assert late.is_done and not long.is_done and len(sizes) == 60
        (gone,) = session.admit([second])
        session.step()
        assert sizes[-1] == 1 and len(sizes) == 62
        session.step()
        shared = sizes[-1]
        session.cancel(gone)
        session.step()
        assert sizes[-1] == shared // 2 and len(sizes) == 64
    run(session)
    assert len(sizes) == 200 + 2 and len(long.hypotheses[0].token_log_probabilities) == 200
    assert_same([late.hypotheses], generate(job, [second]))


def test_prompts_that_do_not_fit_together_are_continued_apart(monkeypatch):
    sizes, job = [], job_for(small_model("gpt"), {"num_samples": 2})
    expected = generate(job, PROMPTS)
    whole = entry._together

    def narrow(job, requests):
        sizes.append(len(requests))
        if len(requests) > 2:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return whole(job, requests)

    monkeypatch.setattr(entry, "_together", narrow)
    assert_same(generate(job, PROMPTS), expected)
    assert sizes == [6, 3, 1, 2, 3, 1, 2]

    def never(*_):
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(entry, "_together", never)
    with pytest.raises(DataError) as error:
        generate(job, PROMPTS)
    assert str(error.value) == (
        "Out of memory on a single text of 6 tokens with 2 hypotheses; split or shorten it, or use a smaller "
        "num_samples."
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
            {"method": "beam", "temperature": 0.5},
            'temperature: 0.5 applies to sampling only; set method "sample" too, or omit it.',
        ),
        ({"beam_size": 3}, 'beam_size: 3 applies to beam search only; omit it, or set method "beam".'),
        (
            {"method": "beam", "beam_size": 3, "num_samples": 4},
            "num_samples: 4 is more than beam_size 3; raise that.",
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
        resolve(TextDecoding, [Layer("here", settings)])
    assert str(error.value) == sentence
