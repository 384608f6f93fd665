"""An ensemble averages the probabilities of its members."""

import torch
from torch.testing import assert_close

from regard.decoding.steppers.encoder_decoder import EncoderDecoderStepper
from regard.decoding.steppers.ensemble import EnsembleStepper
from regard.decoding.steppers.interface import Request
from small import ENDS, small_transformer

SOURCES = [[5, 9, 7], [8, 4, 6, 11]]


@torch.no_grad()
def test_an_ensemble_averages_probabilities():
    models = [small_transformer(seed) for seed in (0, 1)]
    ensemble = EnsembleStepper([EncoderDecoderStepper(model, ENDS.bos_id) for model in models])
    ensemble.admit([Request(ids, 9) for ids in SOURCES])
    ensemble.reorder(torch.tensor([1, 0]), torch.tensor([1, 0]))
    log_p = ensemble.step(torch.tensor([5, 6]))
    for row, (source, token) in enumerate(((SOURCES[1], 5), (SOURCES[0], 6))):
        source, target = torch.tensor([source]), torch.tensor([[ENDS.bos_id, token]])
        mask = torch.ones_like(source, dtype=torch.bool)
        expected = torch.stack([model(source, mask, target)[0, -1].softmax(-1) for model in models]).mean(0)
        assert_close(log_p[row].exp(), expected, atol=1e-5, rtol=1e-4)
