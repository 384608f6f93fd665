import math

import numpy as np
import pytest
import torch

from regard.errors import ConfigError
from regard.nn.layers.positions import sinusoids
from regard.nn.layers.recurrent import gru_step, lstm_step
from regard.studio.views.concepts import (
    BleuRequest,
    CellRequest,
    MasksRequest,
    PositionsRequest,
    SchedulesRequest,
    SmoothingRequest,
    show_bleu,
    show_cell,
    show_masks,
    show_positions,
    show_schedules,
    show_smoothing,
)


@pytest.mark.parametrize("shift", [0, 1, 13])
def test_a_shift_of_positions_is_a_linear_function_of_them(shift):
    view = show_positions(PositionsRequest(length=40, width=16, shift=shift))
    expected = sinusoids(torch.arange(40), 16).numpy()
    assert np.array_equal(view.values.array, expected.astype(np.float32)) and view.error < 1e-5
    assert np.allclose(view.shifted.array, expected[shift:], atol=1e-5)
    pairs = expected[: 40 - shift, :2] @ view.rotation.array.T
    assert np.allclose(pairs, expected[shift:, :2], atol=1e-5)
    assert [int("".join(str(int(bit)) for bit in row), 2) for row in view.bits.array] == list(range(40))
    with pytest.raises(ConfigError, match="an even width"):
        show_positions(PositionsRequest(width=7))


def test_learning_rates_are_the_formulas():
    view = show_schedules(SchedulesRequest(warmup=100, steps=1000, width=256, peak=0.002))
    curves = {each.schedule: dict(zip(view.steps, each.rates, strict=True)) for each in view.curves}
    assert curves["transformer"][100] == pytest.approx(256**-0.5 * 100**-0.5)
    assert curves["transformer"][400] == pytest.approx(256**-0.5 * 400**-0.5)
    assert curves["inverse-sqrt"][400] == pytest.approx(0.001) and curves["constant"][500] == 0.002
    assert curves["linear"][1000] < 1e-5 and curves["cosine"][100] == pytest.approx(0.002)
    with pytest.raises(ConfigError, match="a warm-up below the steps"):
        show_schedules(SchedulesRequest(warmup=10, steps=10))


def test_the_smoothed_loss_is_least_at_the_target_and_the_plain_one_at_certainty():
    view = show_smoothing(SmoothingRequest(smoothing=0.2, vocabulary=30))
    assert view.best == 0.8 and view.plain.index(min(view.plain)) == len(view.plain) - 1
    p = view.probabilities[49]
    q = (1 - p) / 29
    assert view.plain[49] == pytest.approx(-math.log(p), abs=1e-5)
    assert view.smoothed[49] == pytest.approx(-0.8 * math.log(p) - 0.2 * math.log(q), abs=1e-4)
    with pytest.raises(ConfigError, match="a smoothing below 1"):
        show_smoothing(SmoothingRequest(smoothing=1.0))


def test_bleu_is_explained_with_clipped_counts():
    view = show_bleu(BleuRequest(hypothesis="The ball is blue", reference="The ball is blue"))
    assert [each.total for each in view.orders] == [4, 3, 2, 1] and view.scores == [1, 1, 1, 1]
    view = show_bleu(BleuRequest(hypothesis="the the the", reference="the cat is here"))
    assert (view.orders[0].clipped, view.orders[0].total) == (1, 3) and view.orders[0].matches[0].count == 3
    assert view.brevity_penalty == pytest.approx(math.exp(1 - 4 / 3))
    with pytest.raises(ConfigError, match="give a hypothesis and a reference"):
        show_bleu(BleuRequest(hypothesis=" ", reference="a"))


def test_masks_are_causal_padding_and_both():
    view = {each.name: each.values.array for each in show_masks(MasksRequest(lengths=(3, 2))).masks}
    assert view["causal"].tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert view["padding, sentence 2"][0].tolist() == [1, 1, 0]
    assert np.array_equal(view["both, sentence 2"], view["causal"] * view["padding, sentence 2"])
    with pytest.raises(ConfigError, match="give 1 to 8 sentences"):
        show_masks(MasksRequest(lengths=()))


def test_cells_are_those_of_recurrent_layers():
    view = show_cell(CellRequest(i=0.25, f=0.75, o=0.5, candidate=0.6, state=1.5, steps=3))
    logit = lambda p: math.log(p / (1 - p))
    x = torch.tensor([[logit(0.25), logit(0.75), math.atanh(0.6), logit(0.5)]])
    state = (torch.zeros(1, 1), torch.tensor([[1.5]]))
    for cell, hidden in zip(view.cell, view.hidden, strict=True):
        state = lstm_step(x, torch.zeros_like(x), state)
        assert (float(state[1]), float(state[0])) == pytest.approx((cell, hidden), abs=1e-5)
    view = show_cell(CellRequest(cell="gru", z=0.3, candidate=0.6, state=-0.5, steps=2))
    x, h = torch.tensor([[0.0, logit(0.3), math.atanh(0.6)]]), torch.tensor([[-0.5]])
    for hidden in view.hidden:
        (h,) = gru_step(x, torch.zeros_like(x), (h,))
        assert float(h) == pytest.approx(hidden, abs=1e-5)
    with pytest.raises(ConfigError, match="give 1 to 200"):
        show_cell(CellRequest(steps=0))
