"""Beam search: one beam is greedy, a beam as wide as the search space is exhaustive."""

import itertools

import pytest
import torch

from generators import FAMILIES, beam_by_definition, small_model
from regard.decoding.generate import generate
from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.search.beam import BeamSearch
from regard.decoding.search.running import RunningRequest
from regard.decoding.session import GenerationJob
from regard.decoding.settings import TextDecoding, TranslationDecoding, length_penalty
from regard.decoding.steppers.interface import SpecialTokens
from small import ENDS, VOCABULARY, decode, ending_model, requests_of, sources


def searched(job, requests):
    """Return the hypotheses of a beam search, whatever the beam size."""
    search = BeamSearch(job.stepper, LogitsProcessor(job.settings, job.ends, job.models[0].head.weight))
    running = [RunningRequest(each) for each in requests]
    with torch.inference_mode():
        search.step(running)
        while not search.is_idle:
            search.step([])
    return [each.hypotheses for each in running]


@pytest.mark.parametrize("family", ["transformer", *FAMILIES])
def test_one_beam_without_length_penalty_is_greedy(family):
    one = {"beam_size": 1, "length_penalty": "none"}
    if family == "transformer":
        model, settings = ending_model(), TranslationDecoding(**one, max_length_ratio=1, max_length_extra=4)
    else:
        model, settings = small_model(family), TextDecoding(**one, method="beam", max_new_tokens=30)
    job = GenerationJob([model], ENDS, settings, model.max_positions)
    requests = requests_of(*sources([6, 4, 8]), settings)
    greedy = generate(job, requests)
    assert [found[0].ids for found in searched(job, requests)] == [found[0].ids for found in greedy]
    if family != "transformer":
        sampled = GenerationJob([model], ENDS, TextDecoding(temperature=0, max_new_tokens=30), model.max_positions)
        assert [found[0].ids for found in generate(sampled, requests)] == [found[0].ids for found in greedy]


@pytest.mark.parametrize("family, window", [*((name, None) for name in FAMILIES), ("gpt", 7), ("rotary", 10)])
def test_a_beam_over_a_language_model_with_cache_equals_one_without(family, window):
    model = small_model(family)
    settings = TextDecoding(method="beam", beam_size=3, num_samples=3, max_new_tokens=26, min_new_tokens=9)
    job = GenerationJob([model], ENDS, settings, window or model.max_positions)
    requests = requests_of(*sources([6, 1, 9]), settings)
    together = generate(job, requests)
    for request, found in zip(requests, together, strict=True):
        expected = beam_by_definition(model, list(request.ids), settings, job.window)
        assert [(each.ids, each.finish_reason) for each in found] == [each[:2] for each in expected]
        for ours, (*_, values, score) in zip(found, expected, strict=True):
            assert ours.token_log_probabilities == pytest.approx(values, abs=1e-4)
            assert ours.score == pytest.approx(score, abs=1e-4)


@pytest.mark.parametrize("penalty", ["none", "average", "gnmt"])
def test_a_wide_beam_finds_the_best_of_all_sequences(penalty):
    """With a beam as wide as the search space, beam search is exhaustive search."""
    model = ending_model()
    source, token_mask = sources([3])
    words = [4, 5, 6]
    never = tuple(token for token in range(VOCABULARY) if token not in (*words, ENDS.eos_id))
    ends = SpecialTokens(ENDS.bos_id, ENDS.eos_id, never)
    settings = TranslationDecoding(
        beam_size=200, length_penalty=penalty, max_length_ratio=1, max_length_extra=1
    )  # 4 tokens
    (found,) = decode(model, source, token_mask, ends, settings)

    def total(ids, is_finished):
        said = [*ids, ends.eos_id] if is_finished else list(ids)
        with torch.no_grad():
            logits = model(source, token_mask, torch.tensor([[ends.bos_id, *said[:-1]]]))[0]
        return logits.log_softmax(-1)[range(len(said)), said].sum().item() / length_penalty(settings, len(said))

    finished = [ids for length in range(4) for ids in itertools.product(words, repeat=length)]
    best = max(finished, key=lambda ids: total(ids, True))
    assert tuple(found[0].ids) == best
    assert abs(found[0].score - total(best, True)) < 1e-4
    scores = [hypothesis.score for hypothesis in found if (hypothesis.finish_reason != "length")]
    assert scores == sorted(scores, reverse=True) and len(scores) == len(finished)
    assert all(hypothesis.finish_reason == "length" for hypothesis in found[len(scores) :])


def test_more_beams_never_find_a_worse_sentence_than_greedy_here():
    model = ending_model()
    source, token_mask = sources([6, 5, 7, 4])
    settings = {"length_penalty": "none", "max_length_ratio": 1.0, "max_length_extra": 4}
    few, many = (
        decode(model, source, token_mask, ENDS, TranslationDecoding(beam_size=beam_size, **settings))
        for beam_size in (1, 20)
    )
    assert all(many[row][0].score >= few[row][0].score - 1e-5 for row in range(4))
    assert any(many[row][0].score > few[row][0].score + 1e-3 for row in range(4))
