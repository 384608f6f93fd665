"""The end of a run of schedule wsd: by validation, by the number of updates, and by the clock."""

import pytest
import torch

from regard.training.ending import Ending, RunClock, fall_length
from regard.training.settings import TrainSettings
from regard.training.state import LoopState
from scene import Scene


def ending_of(monkeypatch, used=0.0, **settings):
    monkeypatch.setattr("regard.training.ending.time.monotonic", lambda: used)
    return Ending(TrainSettings(**{"schedule": "wsd", "steps": 10_000} | settings), RunClock(0.0))


def test_the_rate_falls_once_validation_has_stopped_improving(monkeypatch):
    ending = ending_of(monkeypatch, patience=3)
    assert ending.reason_to_fall(LoopState(step=400, stale=2)) == ""
    state = LoopState(step=400, stale=3, best_step=100)
    assert ending.reason_to_fall(state) == "validation has not improved since step 100"
    ending.begin_fall(state)
    assert (state.decay_from, state.decay_steps, ending.last_step(state)) == (400, 100, 500)
    assert ending.reason_to_fall(state) == "" and not ending.is_over(state)
    state.step = 500
    assert ending.is_over(state)


def test_a_number_of_updates_ends_with_the_fall(monkeypatch):
    ending = ending_of(monkeypatch, steps=1000)
    assert ending.reason_to_fall(LoopState(step=799)) == ""
    state = LoopState(step=800)
    assert ending.reason_to_fall(state) == "the limit is 1,000 updates"
    ending.begin_fall(state)
    assert ending.last_step(state) == 1000


def test_the_clock_leaves_time_for_the_fall_and_the_scores(monkeypatch):
    ending = ending_of(monkeypatch, used=300.0, minutes=10, validate_every=500)
    assert ending.reason_to_fall(LoopState(step=1000)) == ""  # nothing is measured yet
    ending.measure(0.3)
    ending.measure_validation(10.0)
    assert ending.left == pytest.approx(600 - 300 - 32)
    assert ending.reason_to_fall(LoopState(step=1000)) == ""  # 250 updates and a validation take 85 seconds
    state = LoopState(step=4000)
    assert ending.reason_to_fall(state) == "10 minutes are nearly up"
    ending.begin_fall(state)
    assert ending.is_late(state)
    ending.shorten(state)
    assert state.decay_steps == 666
    while ending.is_late(state):
        ending.shorten(state)
    assert 0.3 * state.decay_steps <= ending.left / 0.9


class Machine:
    """A clock that updates, validations and final scores move on, at a pace that changes."""

    def __init__(self, monkeypatch, pace, validation=1.0):
        self.now, self.pace, self.validation = 0.0, pace, validation
        monkeypatch.setattr("regard.training.ending.time.monotonic", lambda: self.now)

    def run(self, minutes, start=5.0, validate_every=100, log_every=5):
        """Train as the loop does, and return the fraction of the time that was used, final scores included."""
        self.now = start
        settings = TrainSettings(schedule="wsd", steps=10**7, minutes=minutes, validate_every=validate_every)
        ending, state = Ending(settings, RunClock(0.0, start)), LoopState()
        while not ending.is_over(state):
            state.step += 1
            seconds = self.pace(self.now)
            self.now += seconds
            is_last = state.step == ending.last_step(state)
            validates = is_last or (state.step % validate_every == 0 and ending.may_validate(state))
            if validates:
                self.now += self.validation
                ending.measure_validation(self.validation)
            if state.step % log_every == 0:
                ending.measure(seconds)
            if validates or state.step % log_every == 0:
                if ending.reason_to_fall(state):
                    ending.begin_fall(state)
                elif ending.is_late(state):
                    ending.shorten(state)
                elif ending.is_early(state) and not ending.is_over(state):
                    ending.lengthen(state)
        self.now += 2 * self.validation  # final scores
        return self.now / (60 * minutes)


@pytest.mark.parametrize("minutes", [1, 2, 8, 40, 600])
@pytest.mark.parametrize("seconds", [0.003, 0.05, 0.4, 1.5])
@pytest.mark.parametrize("validation", [0.1, 1.0, 4.0])
def test_a_run_ends_within_85_to_100_percent_of_its_time(monkeypatch, minutes, seconds, validation):
    if minutes == 600 and seconds < 0.05:
        seconds = 0.05
    machine = Machine(monkeypatch, lambda now: seconds, validation)
    updates = int(60 * minutes / seconds)  # of which the plan makes a hundred log lines and twelve validations
    every = {"log_every": min(20, max(1, updates // 100)), "validate_every": max(1, min(500, updates // 12))}
    assert 0.85 <= machine.run(minutes, **every) <= 1.0


@pytest.mark.parametrize("factor", [0.33, 3.0])
@pytest.mark.parametrize("when", [0.3, 0.6, 0.82])
def test_a_machine_that_becomes_slower_or_faster_changes_the_fall(monkeypatch, factor, when):
    machine = Machine(monkeypatch, lambda now: 0.1 * (factor if now > 600 * when else 1.0))
    assert 0.85 <= machine.run(10) <= 1.0


def test_earlier_sessions_count(monkeypatch):
    ending = ending_of(monkeypatch, used=60.0, minutes=10)
    ending.earlier = 500.0
    assert ending.used == 560.0 and ending.left == pytest.approx(600 - 560 - 20)


def test_a_slow_start_keeps_more_time_for_the_card(monkeypatch):
    ending = ending_of(monkeypatch, used=60.0, minutes=10)
    ending.clock = RunClock(0.0, start_up=20.0)
    assert ending.left == pytest.approx(600 - 60 - 14 - 18)


def test_validations_take_a_quarter_of_a_limited_time_at_most(monkeypatch):
    ending = ending_of(monkeypatch, used=60.0, minutes=10)
    assert ending.may_validate(LoopState(step=9))  # the first one measures
    ending.measure_validation(7.0)
    assert ending.may_validate(LoopState(step=9))
    assert not ending.may_validate(LoopState(step=9, decay_from=8, decay_steps=2))  # the last one is near
    ending.measure_validation(7.0)
    assert not ending.may_validate(LoopState(step=9))
    trained = Scene(schedule="wsd", minutes=60, steps=12)
    trained.trainer.ending.validation = 20.0
    trained.trainer.run()
    assert [step for step, *_ in trained.saved] == [12]  # only the last update is validated


def test_the_clock_is_progress_too(monkeypatch):
    ending = ending_of(monkeypatch, used=150.0, minutes=10, steps=10**7)
    assert ending.progress(LoopState(step=1000)) == 0.25
    assert ending.progress(LoopState(step=9, decay_from=8, decay_steps=2)) == 0.9
    assert ending_of(monkeypatch, steps=100).progress(LoopState(step=30)) == 0.3


def test_a_fall_is_a_quarter_of_what_was_before():
    assert (fall_length(1000), fall_length(0), fall_length(3)) == (250, 1, 1)


def test_other_schedules_end_with_their_steps_or_by_early_stopping(monkeypatch):
    ending = ending_of(monkeypatch, schedule="cosine", steps=100, patience=2)
    assert ending.reason_to_fall(LoopState(step=90, stale=5)) == ""
    assert ending.is_over(LoopState(step=50, stale=2)) and not ending.is_over(LoopState(step=50, stale=1))
    assert ending.is_over(LoopState(step=100))


def test_a_run_ends_by_itself_and_resumes_to_the_bit():
    losses = [3.0, 2.0, 2.5, 2.4, 2.3, *[2.2] * 20]
    settings = {"schedule": "wsd", "patience": 2, "steps": 10_000, "warmup": 2}
    whole = Scene(losses=losses, **settings)
    told = []
    whole.progress.info = told.append
    assert whole.trainer.run() == "finished"
    assert whole.trainer.state.decay_from == 20 and whole.trainer.state.step == 25
    assert told[-2].startswith("step 20: validation has not improved since step 10, so the learning rate falls to 0")
    rates = {r["step"]: r["learning_rate"] for r in whole.records if "learning_rate" in r}
    assert rates[20] == 1e-3 and rates[22] < 1e-3 and rates[24] < rates[22]

    first = Scene(losses=losses, **settings)
    assert first.trainer.run(stop_at=21) == "interrupted"
    _, _, training, weights = first.saved[-1]
    second = Scene(losses=losses[5:], **settings)
    with torch.no_grad():
        for name, parameter in second.trainer.model.named_parameters():
            parameter.copy_(weights[name])
    second.trainer.restore(training)
    assert second.trainer.run() == "finished" and second.trainer.state.step == 25
    assert all(torch.equal(value, second.weights()[name]) for name, value in whole.weights().items())


def test_minutes_need_the_schedule_that_can_end_in_time():
    with pytest.raises(ValueError, match='minutes: 5 needs the schedule "wsd", but it is "cosine"'):
        TrainSettings(minutes=5, schedule="cosine")
