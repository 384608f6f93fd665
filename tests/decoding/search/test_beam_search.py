"""Beam search: one beam is greedy, a beam as wide as the search space is exhaustive."""

import itertools

import pytest
import torch

from regard.decoding.cuda_graphs.encoder_decoder import build_stepper
from regard.decoding.generate import decode
from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.search.beam import beam_search
from regard.decoding.settings import DecodeSettings, length_penalty
from regard.decoding.steppers.interface import SpecialTokens
from small import ENDS, VOCABULARY, ending_model, sources


def test_one_beam_without_length_penalty_is_greedy():
    model = ending_model()
    source, token_mask = sources([6, 4, 8])
    settings = DecodeSettings(beam_size=1, length_penalty="none", max_length_ratio=1, max_length_extra=4)
    limits = [settings.limit(length) for length in token_mask.sum(1).tolist()]
    constraints = LogitsProcessor(settings, ENDS, [None] * 3, source.device)
    with torch.inference_mode():
        by_beam = beam_search(build_stepper([model], source, token_mask), limits, constraints)
    by_greed = decode(model, source, token_mask, ENDS, settings)
    assert [found[0].ids for found in by_beam] == [found[0].ids for found in by_greed]


@pytest.mark.parametrize("penalty", ["none", "average", "gnmt"])
def test_a_wide_beam_finds_the_best_of_all_sequences(penalty):
    """With a beam as wide as the search space, beam search is exhaustive search."""
    model = ending_model()
    source, token_mask = sources([3])
    words = [4, 5, 6]
    never = tuple(token for token in range(VOCABULARY) if token not in (*words, ENDS.eos_id))
    ends = SpecialTokens(ENDS.bos_id, ENDS.eos_id, never)
    settings = DecodeSettings(
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
    scores = [hypothesis.score for hypothesis in found if hypothesis.is_finished]
    assert scores == sorted(scores, reverse=True) and len(scores) == len(finished)
    assert [hypothesis.is_finished for hypothesis in found[len(scores) :]] == [False] * (len(found) - len(scores))


def test_more_beams_never_find_a_worse_sentence_than_greedy_here():
    model = ending_model()
    source, token_mask = sources([6, 5, 7, 4])
    settings = {"length_penalty": "none", "max_length_ratio": 1.0, "max_length_extra": 4}
    few, many = (
        decode(model, source, token_mask, ENDS, DecodeSettings(beam_size=beam_size, **settings))
        for beam_size in (1, 20)
    )
    assert all(many[row][0].score >= few[row][0].score - 1e-5 for row in range(4))
    assert any(many[row][0].score > few[row][0].score + 1e-3 for row in range(4))
