"""Steps in fixed places are the steps of the model; without CUDA they are taken there, but not recorded."""

import gc
import weakref

import pytest
import torch

from regard.decoding import generate as decoding
from regard.decoding.cuda_graphs import capture as recording
from regard.decoding.cuda_graphs import encoder_decoder as recorded
from regard.decoding.cuda_graphs.beam import Rules
from regard.decoding.cuda_graphs.capture import graph_cache, power_of_two
from regard.decoding.cuda_graphs.encoder_decoder import CudaGraphStepper
from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.session import GenerationJob, GenerationSession
from regard.decoding.settings import TranslationDecoding
from regard.decoding.steppers.encoder_decoder import EncoderDecoderStepper
from regard.decoding.steppers.interface import Request
from small import ENDS, VOCABULARY, decode, ending_model, requests_of, sources

LENGTHS = [9, 3, 7, 5, 1, 9, 2, 8, 6]
BOUNDS = {"max_length_ratio": 1, "max_length_extra": 12}


def decoded(monkeypatch, kind, model, **settings):
    """Decode by a kind of stepper, or by the search that is recorded whole."""
    monkeypatch.setattr(recorded, "stepper_kind", lambda model, members: kind)
    monkeypatch.setattr(decoding, "supports_cuda_graphs", lambda model: kind == "whole")
    source, token_mask = sources(LENGTHS)
    return decode(model, source, token_mask, ENDS, TranslationDecoding(**BOUNDS, **settings))


def assert_same(found, expected):
    for ours, theirs in zip(found, expected, strict=True):
        assert [each.ids for each in ours] == [each.ids for each in theirs]
        assert [each.score for each in ours] == pytest.approx([each.score for each in theirs], abs=1e-4)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "alibi", "relative", "none"])
@pytest.mark.parametrize(
    "settings",
    [{"beam_size": 1}, {"beam_size": 4}, {"method": "sample", "num_samples": 3}],
    ids=["greedy", "beam", "sample"],
)
def test_fixed_places_change_nothing(monkeypatch, positions, settings):
    model = ending_model(positions=positions)
    plain = decoded(monkeypatch, EncoderDecoderStepper, model, **settings)
    assert_same(decoded(monkeypatch, CudaGraphStepper, model, **settings), plain)


@pytest.mark.parametrize("kind", [CudaGraphStepper, "whole"])
def test_fixed_places_of_grouped_heads_change_nothing(monkeypatch, kind):
    model = ending_model(key_value_heads=2)
    plain = decoded(monkeypatch, EncoderDecoderStepper, model, beam_size=4)
    assert_same(decoded(monkeypatch, kind, model, beam_size=4), plain)


@pytest.mark.parametrize("positions", ["sinusoidal", "relative"])
@pytest.mark.parametrize(
    "settings",
    [
        {"beam_size": 4},
        {"beam_size": 2, "length_penalty": "none"},
        {"beam_size": 5, "min_length": 9},
        {"beam_size": 3, "max_length": 4},
    ],
    ids=str,
)
def test_a_search_recorded_whole_changes_nothing(monkeypatch, positions, settings):
    model = ending_model(positions=positions)
    plain = decoded(monkeypatch, EncoderDecoderStepper, model, **settings)
    assert_same(decoded(monkeypatch, "whole", model, **settings), plain)


@pytest.mark.parametrize(
    "settings",
    [
        {"no_repeat_ngram_size": 2},
        {"repetition_penalty": 1.5},
        {"coverage_penalty": 0.2},
        {"beam_size": 1},
        {"beam_size": 21},
        {"stop": ["."]},
    ],
    ids=str,
)
def test_rules_that_are_not_recorded(settings):
    asked = TranslationDecoding(**({"beam_size": 3} | settings))
    processor = LogitsProcessor(asked, ENDS, torch.zeros(VOCABULARY, 2))
    assert Rules.of(processor, [Request([5], 9)], VOCABULARY) is None


@pytest.mark.parametrize(("kind", "beam_size"), [(CudaGraphStepper, 1), (CudaGraphStepper, 3), ("whole", 3)])
def test_outputs_outgrow_a_recording(monkeypatch, kind, beam_size):
    monkeypatch.setattr(recording, "FEWEST_STEPS", 2)
    model = ending_model()
    plain = decoded(monkeypatch, EncoderDecoderStepper, model, beam_size=beam_size, min_length=10)
    assert_same(decoded(monkeypatch, kind, model, beam_size=beam_size, min_length=10), plain)
    assert len({shape.steps for shape in graph_cache(model).shapes}) > 1


@pytest.mark.parametrize("kind", [CudaGraphStepper, "whole"])
def test_few_sentences_move_to_a_smaller_recording(monkeypatch, kind):
    monkeypatch.setattr(recording, "LEAVE_AT", 2)
    monkeypatch.setattr(recording, "LARGE", 2)
    model = ending_model()
    plain = decoded(monkeypatch, EncoderDecoderStepper, model, beam_size=3)
    assert_same(decoded(monkeypatch, kind, model, beam_size=3), plain)
    assert len({shape.sentences for shape in graph_cache(model).shapes}) > 1


def test_recordings_serve_later_calls_and_follow_the_weights(monkeypatch):
    model = ending_model()
    decoded(monkeypatch, CudaGraphStepper, model, beam_size=3)
    before = list(graph_cache(model)._kept.values())
    decoded(monkeypatch, CudaGraphStepper, model, beam_size=3)
    assert list(graph_cache(model)._kept.values()) == before
    with torch.no_grad():
        model.head.weight.mul_(0.5)  # in place: the recording sees it
    assert_same(
        decoded(monkeypatch, CudaGraphStepper, model, beam_size=3),
        decoded(monkeypatch, EncoderDecoderStepper, model, beam_size=3),
    )
    model.double().float()  # elsewhere: another recording
    decoded(monkeypatch, CudaGraphStepper, model, beam_size=3)
    assert not set(before) & set(graph_cache(model)._kept.values())


def test_a_model_and_its_recordings_go_together(monkeypatch):
    model = ending_model()
    decoded(monkeypatch, CudaGraphStepper, model, beam_size=2)
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("settings", [{"beam_size": 1}, {"beam_size": 3}, {"method": "sample", "num_samples": 2}])
def test_a_request_that_joins_recorded_steps_changes_nothing(monkeypatch, settings):
    model = ending_model()
    plain = decoded(monkeypatch, EncoderDecoderStepper, model, **settings)
    monkeypatch.setattr(recorded, "stepper_kind", lambda model, members: CudaGraphStepper)
    asked = TranslationDecoding(**BOUNDS, **settings)
    requests = requests_of(*sources(LENGTHS), asked)
    job = GenerationJob([model], ENDS, asked)
    with job.working(len(requests)):
        session = GenerationSession(job, requests[:4])
        running = list(session.running)
        for each in requests[4:]:
            session.step()
            running += session.admit([each])
        while not session.is_done:
            session.step()
    assert graph_cache(model).shapes
    assert_same([each.hypotheses for each in running], plain)


def test_powers_of_two():
    assert [power_of_two(size) for size in (1, 2, 3, 4, 5, 64, 65)] == [1, 2, 4, 4, 8, 64, 128]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("settings", [{"beam_size": 1}, {"beam_size": 4}, {"method": "sample", "num_samples": 3}])
def test_graphs_change_nothing(monkeypatch, settings):
    model = ending_model().cuda()
    source, token_mask = (each.cuda() for each in sources(LENGTHS))
    asked = TranslationDecoding(**BOUNDS, **settings)
    found = [decode(model, source, token_mask, ENDS, asked) for _ in range(2)]  # recorded, and replayed
    monkeypatch.setattr(recorded, "stepper_kind", lambda model, members: EncoderDecoderStepper)
    monkeypatch.setattr(decoding, "supports_cuda_graphs", lambda model: False)
    plain = decode(model, source, token_mask, ENDS, asked)
    for each in found:
        assert_same(each, plain)
