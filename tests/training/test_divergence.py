"""Trouble while training: the last good state comes back, with a lesson learned."""

from dataclasses import replace

import pytest
import torch

from regard.data.feeds.sampler import Position
from regard.training.divergence import detect_explosion
from regard.training.state import LoopState
from scene import Scene


class Spoiled:
    """An objective whose loss is no number for some updates: (how often, per update)."""

    def __init__(self, scene, times, value=float("nan")):
        self.scene, self.inner, self.times, self.value = scene, scene.trainer.gradients.objective, dict(times), value
        self.parts, self.counts = self.inner.parts, self.inner.counts

    def __call__(self, model, batch):
        loss = self.inner(model, batch)
        position = self.scene.trainer.state.position
        if self.times.get(position, 0) == 0:
            return loss
        self.times[position] -= 1
        return {name: replace(part, sum=part.sum * self.value) for name, part in loss.items()}


def spoiled(times, value=float("nan"), **changes):
    scene = Scene(**{"steps": 14, "validate_every": 5, "log_every": 4} | changes)
    scene.trainer.gradients.objective = Spoiled(scene, times, value)
    scene.trainer.hooks = replace(
        scene.trainer.hooks,
        record=scene.records.append,
        forget=lambda step: scene.records.__setitem__(slice(None), [r for r in scene.records if r["step"] <= step]),
    )
    return scene


def same(one, other):
    return all(torch.equal(one.weights()[name], value) for name, value in other.weights().items())


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("checks_every_step", [True, False])
def test_an_update_that_is_no_number_twice_is_left_out(checks_every_step, value):
    bad = Position(0, 6)
    scene = spoiled({bad: 10}, value, validate_every=5)
    scene.trainer.checks_every_step = checks_every_step  # False: once a window, as on a GPU
    assert scene.trainer.run() == "finished"
    step = 7 if checks_every_step else 8
    assert scene.warned == [
        f"step {step}: the loss is NaN or infinite; rolled back to step 5 with 0.5 times the learning rate.",
        f"step {step}: the loss is NaN or infinite at the same update again; rolled back to step 5, and this update "
        "is skipped from now on (update 7 of epoch 1).",
    ]
    assert scene.trainer.state.skipped == [bad] and scene.trainer.state.rate_factor == 1.0
    without = Scene(steps=14, validate_every=5, log_every=4)
    without.trainer.state.skipped = [bad]
    without.trainer.run()
    assert same(scene, without)
    told = [record for record in scene.records if "returned_from" in record]
    assert told == [
        {"step": 5, "returned_from": step, "rate_factor": 0.5},
        {"step": 5, "returned_from": step, "rate_factor": 1.0},
    ]
    losses = [(record["step"], record["ce"]) for record in scene.records if "ce" in record]
    assert losses == [(r["step"], r["ce"]) for r in without.records if "ce" in r]


def test_a_number_that_comes_back_at_a_lower_rate_goes_on_with_it():
    scene = spoiled({Position(0, 6): 1})
    scene.trainer.run()
    state = scene.trainer.state
    assert len(scene.warned) == 1 and state.skipped == [] and state.rate_factor == 0.5 and state.step == 14
    plain = Scene(steps=14, validate_every=5, log_every=4)
    plain.trainer.run()
    assert not same(scene, plain)
    rates = {r["step"]: r["learning_rate"] for r in scene.records if "learning_rate" in r}
    expected = {r["step"]: r["learning_rate"] for r in plain.records if "learning_rate" in r}
    assert rates == {4: expected[4], 8: expected[8] / 2, 12: expected[12] / 2}


def test_a_run_resumed_after_trouble_is_the_same():
    times = {Position(0, 6): 10, Position(1, 4): 1}
    straight = spoiled(times)
    straight.trainer.run()
    cut = spoiled(times)
    cut.trainer.run(stop_at=8)
    _, _, training, weights = cut.saved[-1]
    again = spoiled(times)
    with torch.no_grad():
        for name, parameter in again.trainer.model.named_parameters():
            parameter.copy_(weights[name])
    again.trainer.restore(training)
    assert again.trainer.state.skipped == [Position(0, 6)] and again.trainer.state.rate_factor == 1.0
    again.trainer.run()
    assert straight.trainer.state.rate_factor == again.trainer.state.rate_factor == 0.5
    assert straight.trainer.state.skipped == again.trainer.state.skipped and same(straight, again)


def test_a_validation_that_is_no_number_goes_back_too():
    scene = spoiled({}, losses=[2.0, float("nan"), 1.5, 1.4])
    scene.trainer.run()
    assert scene.warned == [
        "step 10: the validation's loss is NaN or infinite; rolled back to step 5 with 0.5 times the learning rate."
    ]
    assert [(step, value) for step, value, *_ in scene.saved] == [(5, -2.0), (5, None), (10, -1.5), (14, -1.4)]


def test_an_improvement_forgives_earlier_trouble():
    scene = spoiled({Position(0, 6): 1, Position(1, 3): 1}, losses=[3.0, 2.0, 1.0], rollbacks=1)
    scene.trainer.run()
    assert len(scene.warned) == 2 and scene.trainer.state.tries == 0 and scene.trainer.state.rate_factor == 0.25


def test_an_explosion_goes_back_and_the_loss_falls_on():
    scene = spoiled({}, steps=60, validate_every=20, log_every=2, dropout=0.0)
    original, burst = scene.trainer._update, []

    def update(given):
        original(given)
        if scene.trainer.state.step == 30 and not burst:
            burst.append(30)
            with torch.no_grad():
                for parameter in scene.trainer.model.parameters():
                    parameter.mul_(4.0)

    scene.trainer._update = update
    scene.trainer.run()
    (words,) = scene.warned
    assert words.startswith("step 34: the loss exploded from ")
    assert words.endswith("; rolled back to step 20 with 0.5 times the learning rate.")
    losses = [record["ce"] for record in scene.records if "ce" in record]
    assert max(losses) < 8 and len(losses) == 30


def test_an_explosion_is_a_lasting_leap_above_the_median():
    state = LoopState()
    for loss in (9.0, 7.0, 5.0, 4.0, 4.2, 3.8, 5.5):
        assert detect_explosion(state, loss) is None  # falling, and the usual noise
    assert detect_explosion(state, 9.0) is None and state.alarms == 1
    assert detect_explosion(state, 4.0) is None and state.alarms == 0  # one bad window is not enough
    assert detect_explosion(state, 9.0) is None
    trouble = detect_explosion(state, 9.5)
    assert trouble is not None and trouble.message == "the loss exploded from 4.60 to 9.50"


def test_a_standstill_is_told_once_as_long_as_it_lasts(monkeypatch):
    monkeypatch.setattr("regard.training.standstill.FEWEST_UPDATES", 0)
    scene = Scene(steps=25, validate_every=5)
    shares = iter([0.9, 0.9, 0.1, 0.9, 0.9])
    scene.trainer.hooks = replace(
        scene.trainer.hooks, validate=lambda model: {"loss": 1.0, "duplicate_outputs": next(shares)}
    )
    scene.trainer.run()
    assert [words.split(":")[0] for words in scene.warned] == ["step 5", "step 20"]


def test_a_standstill_at_the_very_end_is_told_too():
    scene = Scene(steps=10, validate_every=5)
    scene.trainer.hooks = replace(scene.trainer.hooks, validate=lambda model: {"loss": 1.0, "duplicate_outputs": 1.0})
    scene.trainer.run()
    assert [words.split(":")[0] for words in scene.warned] == ["step 10"]
