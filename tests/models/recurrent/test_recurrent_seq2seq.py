"""Recurrent encoder-decoders: summary, fused and single steps, scheduled sampling."""

import pytest
import torch
from torch.testing import assert_close

from regard.models.base.settings import Vocabularies
from regard.models.recurrent import decoder as recurrent_decoder
from regard.models.recurrent.decoder import DecoderSettings, RecurrentMemory, RecurrentState
from regard.models.recurrent.decoder_loop import ScheduledSampling
from regard.models.recurrent.seq2seq import RecurrentSettings, RecurrentTranslator
from regard.nn.layers.embedding import VocabularyHead, build_table
from small import VOCABULARY, random_tokens, sources


def small(**changes):
    torch.manual_seed(0)
    settings = RecurrentSettings(**{"width": 16, "max_positions": 20} | changes)
    model = RecurrentTranslator(settings, Vocabularies(VOCABULARY, VOCABULARY, True))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    return model.eval()


@pytest.mark.parametrize("summary", ["last", "learned"])
@torch.no_grad()
def test_the_summary_of_a_padded_source_is_that_of_the_source_alone(summary):
    model = small(summary=summary)
    source, token_mask = sources([6, 3])
    memory = model.encode(source, token_mask)
    alone = model.encode(source[1:, :3], token_mask[1:, :3])
    assert_close(memory.summary[1:], alone.summary, atol=1e-5, rtol=1e-5)
    assert_close(memory.states[1:, :3], alone.states, atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_a_learned_summary_is_a_weighted_mean_of_all_states():
    model = small(summary="learned")
    source, token_mask = sources([5])
    memory = model.encode(source, token_mask)
    weights = model.encoder.worth(memory.states).softmax(1)
    assert_close(memory.summary, (weights * memory.states).sum(1), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("changes", [{}, {"alignment": "dot", "attends": "after"}], ids=str)
@torch.no_grad()
def test_single_steps_compute_what_the_fused_pass_computes(changes, monkeypatch):
    """Scheduled sampling with reference tokens alone forces the loop of single steps."""
    model = small(teacher_forcing=0.5, dropout=0.0, embedding_dropout=0.0, **changes).train()
    source, token_mask = sources([6, 4])
    target, memory = random_tokens(2, 5, seed=1), model.encode(source, token_mask)
    loops = []
    monkeypatch.setattr(
        recurrent_decoder, "Loop", lambda *given, loop=recurrent_decoder.Loop: loops.append(given) or loop(*given)
    )
    fused = model.decoder(target, memory, RecurrentState())
    assert not loops
    single = model.decoder(target, memory, RecurrentState(), ScheduledSampling(torch.tensor(1.0), model.head))
    assert len(loops) == 1
    assert_close(single, fused, atol=1e-5, rtol=1e-5)


def test_scheduled_sampling_mixes_references_with_predictions():
    head = VocabularyHead(build_table(VOCABULARY, 8))
    readout, reference = torch.randn(400, 8), torch.full((400,), 7)
    predicted = head(readout).argmax(-1)
    assert torch.equal(ScheduledSampling(torch.tensor(1.0), head).inputs(readout, reference), reference)
    assert torch.equal(ScheduledSampling(torch.tensor(0.0), head).inputs(readout, reference), predicted)
    torch.manual_seed(0)
    mixed = ScheduledSampling(torch.tensor(0.25), head).inputs(readout, reference)
    assert ((mixed == reference) | (mixed == predicted)).all()
    assert (mixed == reference).float().mean().item() == pytest.approx(0.25, abs=0.1)


def test_memory_and_state_select_rows_of_all_tensors():
    part = lambda *shape: torch.randn(2, *shape)
    memory = RecurrentMemory(part(3, 4), part(3) > 0, part(4), part(1, 3), (part(1, 4),), keys=part(3, 5))
    chosen = memory.select(torch.tensor([1]))
    assert_close(chosen.states, memory.states[1:])
    assert_close(chosen.begin[0], memory.begin[0][1:])
    assert_close(chosen.keys, memory.keys[1:])
    assert chosen.to_gates is None
    state = RecurrentState([(part(4),)], part(5)).select(torch.tensor([1, 1, 0]))
    assert torch.equal(state.layers[0][0][0], state.layers[0][0][1]) and state.fed.shape == (3, 5)
    assert RecurrentState().select(torch.tensor([0])).layers is None


def test_a_context_is_an_input_of_each_step_as_the_settings_require():
    assert DecoderSettings().reads_context and not DecoderSettings(context="once").reads_context
    assert DecoderSettings(alignment="dot").reads_context
    assert not DecoderSettings(alignment="dot", attends="after").reads_context
