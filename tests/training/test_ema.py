"""The moving average of the weights."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from regard.checkpoint.background import host_copies
from regard.training.ema import Ema, fill
from scene import Scene


def test_the_average_is_what_the_formula_says():
    scene = Scene(ema_decay=0.9, steps=6, validate_every=6)
    expected = scene.weights()
    original = scene.trainer._update

    def update(given):
        original(given)
        decay = min(0.9, (1 + scene.trainer.state.step) / (10 + scene.trainer.state.step))
        for name, value in scene.weights().items():
            expected[name] = decay * expected[name] + (1 - decay) * value

    scene.trainer._update = update
    scene.trainer.run()
    for name, value in scene.trainer.average.values.items():
        assert_close(value, expected[name])


def test_the_average_is_validated_and_saved_and_the_weights_go_on():
    plain = Scene(steps=10)
    plain.trainer.run()
    scene = Scene(steps=10, ema_decay=0.9)
    seen = []
    validate = scene.trainer.hooks.validate

    def watch(model):
        seen.append({name: parameter.detach().clone() for name, parameter in model.named_parameters()})
        return validate(model)

    object.__setattr__(scene.trainer.hooks, "validate", watch)
    scene.trainer.run()
    assert all(torch.equal(scene.weights()[name], value) for name, value in plain.weights().items())
    _, _, training, saved = scene.saved[-1]
    for name, value in scene.trainer.average.values.items():
        assert torch.equal(seen[-1][name], value) and torch.equal(saved[name], value)
        assert torch.equal(training.tensors[f"weights/{name}"], plain.weights()[name])
    assert any((saved[name] - value).abs().max() > 1e-4 for name, value in plain.weights().items())


def test_a_resumed_average_is_the_same_to_the_bit():
    straight = Scene(ema_decay=0.9)
    straight.trainer.run()
    first = Scene(ema_decay=0.9)
    first.trainer.run(stop_at=7)
    _, _, training, weights = first.saved[-1]
    second = Scene(ema_decay=0.9)
    with torch.no_grad():
        for name, parameter in second.trainer.model.named_parameters():
            parameter.copy_(weights[name])
    second.trainer.restore(training)
    second.trainer.run()
    for name, value in straight.weights().items():
        assert torch.equal(second.weights()[name], value)
        assert torch.equal(second.trainer.average.values[name], straight.trainer.average.values[name])
    losses = lambda scene: [(r["step"], r["ce"]) for r in scene.records if "ce" in r]
    assert losses(first) + losses(second) == losses(straight)


def test_without_an_average_nothing_more_is_saved():
    scene = Scene(steps=5)
    scene.trainer.run()
    assert not [name for name in scene.saved[-1][2].tensors if name.startswith("weights/")]


def test_the_average_replaces_the_weights_for_a_while_and_they_come_back():
    model = nn.Linear(2, 2)
    average = Ema(model, 0.9)
    start = host_copies(dict(model.named_parameters()))
    fill(average.parameters, {name: value + 1 for name, value in start.items()})
    with pytest.raises(ValueError, match="inside"), average.applied():
        assert torch.equal(model.weight, start["weight"])  # the average has not moved yet
        raise ValueError("inside")
    assert torch.equal(model.weight, start["weight"] + 1)
    average.update(step=1)  # decay 2 / 11
    assert_close(average.values["weight"], start["weight"] + 9 / 11)


def test_a_decay_of_zero_keeps_no_average():
    model = nn.Linear(2, 2)
    average = Ema(model, 0.0)
    average.update(1)
    with average.applied():
        assert average.values == {}


def test_copies_do_not_change_with_their_originals():
    tensor = torch.zeros(3)
    (copied,) = host_copies({"a": tensor}).values()
    tensor += 1
    assert not copied.any()
