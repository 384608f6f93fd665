"""A model that learns nothing starts again at half the rate, the same after a kill, and gives up in the end."""

from dataclasses import replace

import pytest
import torch

from regard.errors import RunError
from regard.training.recoverable import Recoverable
from regard.training.settings import TrainSettings
from regard.training.state import LoopState
from scene import Scene

STUCK = {"steps": 40, "warmup": 2, "validate_every": 5, "log_every": 5, "tokens_per_update": 40}


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Runs of a few updates are watched as those of hundreds are."""
    monkeypatch.setattr("regard.training.standstill.FEWEST_OF_SHORT", 10)


def stuck_scene(until, **changes):
    """A run whose validations are at the level of a constant prediction until the restart of that number."""
    scene = Scene(**STUCK | changes)
    fresh = Scene(**STUCK | changes).trainer.model
    scene.dropped = []
    trainer = scene.trainer

    def validate(model):
        return {"loss": 5.0 if trainer.state.restarts < until else 1.0, "bleu": 0.0}

    trainer.hooks = replace(
        trainer.hooks,
        validate=validate,
        baseline={"loss": 5.0},
        untrained=lambda: fresh,
        forget=lambda step: scene.records.__setitem__(slice(None), [r for r in scene.records if r["step"] <= step]),
        drop_older=lambda: scene.dropped.append(trainer.state.step),
    )
    trainer._line.train_loss = 5.0
    original = trainer._report

    def report(bar, must_check):
        divergence = original(bar, must_check)
        trainer._line.train_loss = 5.0  # nothing is learned
        trainer.state.recent = [5.0, 5.0]
        return divergence

    trainer._report = report
    return scene


def test_it_goes_back_to_the_start_with_half_the_rate():
    scene = stuck_scene(until=1)
    assert isinstance(scene.trainer, Recoverable)
    assert scene.trainer.run() == "finished"
    state = scene.trainer.state
    assert (state.restarts, state.rate_factor, state.step) == (1, 0.5, 40)
    assert scene.warned == [
        "step 25: the validation's loss of 5 is that of a constant prediction (5); the model learns nothing, so "
        "training starts again from step 0 with 0.5 times the learning rate."
    ]
    assert scene.dropped == [0] and scene.records[0]["returned_from"] == 25
    alone = stuck_scene(until=0)
    alone.trainer.state.rate_factor = 0.5
    assert alone.trainer.run() == "finished"
    assert all(torch.equal(value, alone.weights()[name]) for name, value in scene.weights().items())


def test_a_run_killed_after_the_restart_resumes_to_the_same():
    whole = stuck_scene(until=1)
    assert whole.trainer.run() == "finished"
    saves = [each for each in whole.saved if each[0] == 0]
    assert len(saves) == 1  # the restart is saved at once
    again = stuck_scene(until=1)
    _, _, training, weights = saves[0]
    with torch.no_grad():
        for name, parameter in again.trainer.model.named_parameters():
            parameter.copy_(weights[name])
    again.trainer.restore(training)
    assert again.trainer.run() == "finished"
    assert [each[0] for each in again.saved] == [each[0] for each in whole.saved[whole.saved.index(saves[0]) + 1 :]]
    assert all(torch.equal(value, again.weights()[name]) for name, value in whole.weights().items())


def test_it_gives_up_after_as_many_restarts_as_rollbacks():
    scene = stuck_scene(until=9, rollbacks=2)
    with pytest.raises(RunError) as error:
        scene.trainer.run()
    assert str(error.value) == (
        "step 25: the validation's loss of 5 is that of a constant prediction (5): the model learns nothing, at 3 "
        "learning rates; lower train.learning_rate (now 0.001), raise train.warmup (now 2), or check that inputs and "
        "targets belong together."
    )


def test_the_loss_breaks_ties():
    state = LoopState(step=10)
    assert state.rank(0.0, {"loss": 1.28}) == 0.0
    state.step = 20
    assert state.rank(0.0, {"loss": 0.3}) > 0.0 and state.best_step == 20 and state.stale == 0
    state.step = 30
    assert state.rank(0.0, {"loss": 0.5}) == 0.0 and state.best_step == 20 and state.stale == 1
    assert TrainSettings(schedule="wsd", patience=1).ends_itself
