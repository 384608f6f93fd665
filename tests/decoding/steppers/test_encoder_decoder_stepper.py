"""Steps of encoder-decoder models, against forward passes over the whole target."""

import pytest
import torch
from torch.testing import assert_close

from regard.decoding.steppers.encoder_decoder import EncoderDecoderStepper
from regard.decoding.steppers.interface import Request
from regard.models.base.settings import Vocabularies
from regard.models.convolutional import ConvolutionalSettings
from regard.models.families import build_model
from regard.models.recurrent.seq2seq import RecurrentSettings
from small import ENDS, VOCABULARY, small_settings

SOURCES = [[5, 9, 7], [8, 4, 6, 11, 12], [7]]
FAMILIES = {
    **{name: small_settings(positions=name) for name in ("sinusoidal", "learned", "rotary", "alibi", "relative")},
    "grouped": small_settings(key_value_heads=2),
    "recurrent": RecurrentSettings(width=16),
    "attention": RecurrentSettings(width=16, alignment="additive"),
    "location": RecurrentSettings(width=16, alignment="location"),
    "input-feeding": RecurrentSettings(width=16, alignment="dot", attends="after", has_input_feeding=True),
    "convolutional": ConvolutionalSettings(width=16, encoder_layers=2, decoder_layers=2),
}


def model_of(family):
    torch.manual_seed(1)
    return build_model(FAMILIES[family], Vocabularies(VOCABULARY, VOCABULARY, True)).eval()


def logits_after(model, source, target):
    source = torch.tensor([source])
    return model(source, torch.ones_like(source, dtype=torch.bool), torch.tensor([[ENDS.bos_id, *target]]))[0, -1]


@pytest.mark.parametrize("is_shared", [True, False])
@pytest.mark.parametrize("family", FAMILIES)
@torch.no_grad()
def test_sources_that_join_and_leave_equal_whole_forward_passes(family, is_shared):
    model = model_of(family)
    stepper, texts = EncoderDecoderStepper(model, ENDS.bos_id), []  # of source and target
    close = lambda logits, texts: assert_close(
        logits, torch.stack([logits_after(model, *text) for text in texts]).float(), atol=2e-4, rtol=1e-4
    )
    for step in range(7):
        if step in (0, 2, 3):
            sources = SOURCES[:2] if step == 0 else [SOURCES[step - 2]]
            close(stepper.admit([Request(ids, 9) for ids in sources], 2, is_shared), [(ids, []) for ids in sources])
            texts += [(ids, []) for ids in sources for _ in range(2)]
        if step == 5:  # the first leaves
            rows = torch.arange(2, len(texts))
            stepper.reorder(rows, torch.arange(1, len(texts) // 2) if is_shared else rows)
            texts = texts[2:]
        tokens = torch.arange(len(texts)) + 4 + step
        texts = [(source, [*target, token]) for (source, target), token in zip(texts, tokens.tolist(), strict=True)]
        close(stepper.step(tokens), texts)
        order = torch.arange(len(texts)).view(-1, 2).flip(1).flatten()
        stepper.reorder(order, None if is_shared else order)
        texts = [texts[row] for row in order]


def test_learned_positions_still_end_after_a_join():
    model = build_model(small_settings(positions="learned", max_positions=6), Vocabularies(40, 40, True)).eval()
    with torch.no_grad():
        stepper = EncoderDecoderStepper(model, ENDS.bos_id)
        stepper.admit([Request([5], 9)])
        for _ in range(3):
            stepper.step(torch.tensor([7]))
        stepper.admit([Request([5, 6], 9)])
        for _ in range(2):
            stepper.step(torch.tensor([7, 8]))
        with pytest.raises(Exception, match="A sequence of 7 tokens"):
            stepper.step(torch.tensor([7, 8]))
        stepper.reorder(torch.tensor([1]), torch.tensor([1]))  # the longer one leaves
