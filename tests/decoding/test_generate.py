import itertools

import pytest
import torch
from torch.testing import assert_close

from regard.decoding.cuda_graphs.encoder_decoder import build_stepper
from regard.decoding.generate import decode
from regard.decoding.logits.processors import LogitsProcessor
from regard.decoding.search.beam import beam_search
from regard.decoding.settings import DecodeSettings, length_penalty
from regard.decoding.steppers.interface import SpecialTokens
from small import ENDS, VOCABULARY, ending_model, log_probability, small_transformer, sources


@pytest.mark.parametrize("beam_size", [1, 4])
def test_scores_are_those_of_the_model(beam_size):
    model = ending_model()
    source, token_mask = sources([6, 4, 5])
    settings = DecodeSettings(beam_size=beam_size, max_length_ratio=1, max_length_extra=5)
    for row, hypotheses in enumerate(decode(model, source, token_mask, ENDS, settings)):
        length = int(token_mask[row].sum())
        for hypothesis in hypotheses:
            assert hypothesis.is_finished == (len(hypothesis.ids) < settings.limit(length))
            expected = log_probability(model, source[row, :length], hypothesis.ids, hypothesis.is_finished)
            assert abs(hypothesis.log_probability - expected) < 1e-4
            tokens = len(hypothesis.ids) + hypothesis.is_finished
            assert abs(hypothesis.score - expected / tokens) < 1e-4


@pytest.mark.parametrize("beam_size", [1, 3, 5])
@pytest.mark.parametrize("positions", ["sinusoidal", "rotary", "relative"])
def test_batched_output_equals_single_output(beam_size, positions):
    model = ending_model(positions=positions)
    lengths = [9, 3, 7, 5, 1, 9]
    source, token_mask = sources(lengths)
    settings = DecodeSettings(beam_size=beam_size, max_length_ratio=1, max_length_extra=6)
    together = decode(model, source, token_mask, ENDS, settings)
    for row, length in enumerate(lengths):
        (alone,) = decode(model, source[row : row + 1, :length], token_mask[row : row + 1, :length], ENDS, settings)
        assert [hypothesis.ids for hypothesis in alone] == [hypothesis.ids for hypothesis in together[row]]
        for one, other in zip(alone, together[row], strict=True):
            assert abs(one.score - other.score) < 1e-4


def test_greedy_takes_the_most_probable_token_each_time():
    model = ending_model()
    source, token_mask = sources([6])
    ((found,),) = decode(
        model, source, token_mask, ENDS, DecodeSettings(beam_size=1, max_length_ratio=1, max_length_extra=4)
    )
    ids = []
    with torch.no_grad():
        while len(ids) < 10:
            logits = model(source, token_mask, torch.tensor([[ENDS.bos_id, *ids]]))[0, -1]
            logits[list(ENDS.never)] = -torch.inf
            token = int(logits.argmax())
            if token == ENDS.eos_id:
                break
            ids.append(token)
    assert found.ids == ids


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


def test_the_n_best_are_different_and_ordered():
    model = ending_model()
    source, token_mask = sources([6, 4])
    for hypotheses in decode(model, source, token_mask, ENDS, DecodeSettings(beam_size=5)):
        assert len({tuple(hypothesis.ids) for hypothesis in hypotheses}) == 5
        scores = [hypothesis.score for hypothesis in hypotheses]
        assert scores == sorted(scores, reverse=True)


def test_special_tokens_are_never_said():
    model = small_transformer()
    with torch.no_grad():
        model.head.weight[list(ENDS.never)] *= 20
    source, token_mask = sources([6, 4])
    for beam_size in (1, 3):
        for hypotheses in decode(model, source, token_mask, ENDS, DecodeSettings(beam_size=beam_size)):
            assert not set(ENDS.never) & {token for hypothesis in hypotheses for token in hypothesis.ids}


@pytest.mark.parametrize("beam_size", [1, 3])
def test_each_sentence_stops_at_its_own_limit(beam_size):
    model = small_transformer()
    with torch.no_grad():
        model.head.weight[ENDS.eos_id] = -100 * model.head.weight.mean(0)
    source, token_mask = sources([8, 2])
    settings = DecodeSettings(beam_size=beam_size, max_length_ratio=1, max_length_extra=2)
    lengths = [
        len(found[0].ids) for found in decode(model, source, token_mask, SpecialTokens(2, 3, (0, 1, 2, 3)), settings)
    ]
    assert lengths == [10, 4]


def test_a_learned_table_bounds_the_output():
    model = small_transformer(positions="learned", max_positions=7)
    source, token_mask = sources([6])
    (found,) = decode(model, source, token_mask, SpecialTokens(2, 3, (0, 1, 2, 3)), DecodeSettings(beam_size=2))
    assert len(found[0].ids) == 7


def test_length_penalties_are_those_of_the_papers():
    none, average, gnmt = (
        DecodeSettings(length_penalty=name, length_penalty_alpha=0.6) for name in ("none", "average", "gnmt")
    )
    assert length_penalty(none, 9) == 1
    assert_close(length_penalty(average, 9), 9**0.6)
    assert_close(length_penalty(gnmt, 9), (14 / 6) ** 0.6)
