import pytest
import torch
from torch.testing import assert_close

from regard.decoding.settings import TranslationDecoding, length_penalty
from regard.decoding.steppers.interface import SpecialTokens
from small import ENDS, decode, ending_model, log_probability, small_transformer, sources


@pytest.mark.parametrize("beam_size", [1, 4])
def test_scores_are_those_of_the_model(beam_size):
    model = ending_model()
    source, token_mask = sources([6, 4, 5])
    settings = TranslationDecoding(beam_size=beam_size, max_length_ratio=1, max_length_extra=5)
    for row, hypotheses in enumerate(decode(model, source, token_mask, ENDS, settings)):
        length = int(token_mask[row].sum())
        for hypothesis in hypotheses:
            assert (hypothesis.finish_reason != "length") == (len(hypothesis.ids) < settings.limit(length))
            expected = log_probability(
                model, source[row, :length], hypothesis.ids, (hypothesis.finish_reason != "length")
            )
            assert abs(hypothesis.log_probability - expected) < 1e-4
            tokens = len(hypothesis.ids) + (hypothesis.finish_reason != "length")
            assert abs(hypothesis.score - expected / tokens) < 1e-4


@pytest.mark.parametrize("beam_size", [1, 3, 5])
@pytest.mark.parametrize("positions", ["sinusoidal", "rotary", "relative"])
def test_batched_output_equals_single_output(beam_size, positions):
    model = ending_model(positions=positions)
    lengths = [9, 3, 7, 5, 1, 9]
    source, token_mask = sources(lengths)
    settings = TranslationDecoding(beam_size=beam_size, max_length_ratio=1, max_length_extra=6)
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
        model, source, token_mask, ENDS, TranslationDecoding(beam_size=1, max_length_ratio=1, max_length_extra=4)
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


def test_the_n_best_are_different_and_ordered():
    model = ending_model()
    source, token_mask = sources([6, 4])
    for hypotheses in decode(model, source, token_mask, ENDS, TranslationDecoding(beam_size=5)):
        assert len({tuple(hypothesis.ids) for hypothesis in hypotheses}) == 5
        scores = [hypothesis.score for hypothesis in hypotheses]
        assert scores == sorted(scores, reverse=True)


def test_special_tokens_are_never_said():
    model = small_transformer()
    with torch.no_grad():
        model.head.weight[list(ENDS.never)] *= 20
    source, token_mask = sources([6, 4])
    for beam_size in (1, 3):
        for hypotheses in decode(model, source, token_mask, ENDS, TranslationDecoding(beam_size=beam_size)):
            assert not set(ENDS.never) & {token for hypothesis in hypotheses for token in hypothesis.ids}


@pytest.mark.parametrize("beam_size", [1, 3])
def test_each_sentence_stops_at_its_own_limit(beam_size):
    model = small_transformer()
    with torch.no_grad():
        model.head.weight[ENDS.eos_id] = -100 * model.head.weight.mean(0)
    source, token_mask = sources([8, 2])
    settings = TranslationDecoding(beam_size=beam_size, max_length_ratio=1, max_length_extra=2)
    lengths = [
        len(found[0].ids) for found in decode(model, source, token_mask, SpecialTokens(2, 3, (0, 1, 2, 3)), settings)
    ]
    assert lengths == [10, 4]


def test_a_learned_table_bounds_the_output():
    model = small_transformer(positions="learned", max_positions=7)
    source, token_mask = sources([6])
    (found,) = decode(model, source, token_mask, SpecialTokens(2, 3, (0, 1, 2, 3)), TranslationDecoding(beam_size=2))
    assert len(found[0].ids) == 7


def test_length_penalties_are_those_of_the_papers():
    none, average, gnmt = (
        TranslationDecoding(length_penalty=name, length_penalty_alpha=0.6) for name in ("none", "average", "gnmt")
    )
    assert length_penalty(none, 9) == 1
    assert_close(length_penalty(average, 9), 9**0.6)
    assert_close(length_penalty(gnmt, 9), (14 / 6) ** 0.6)
