from regard.training.ending import Ending, RunClock
from regard.training.settings import TrainSettings
from regard.training.state import LoopState
from regard.training.validation_line import ValidationLine


def test_a_validation_is_one_line_with_losses_the_best_so_far_and_the_time_left(monkeypatch):
    now = iter([0.0, 100.0, 190.0, 280.0])
    monkeypatch.setattr("regard.training.validation_line.time.monotonic", lambda: next(now))
    line = ValidationLine()
    line.begin(1000)
    line.train_loss = 3.21449
    settings = TrainSettings(steps=4000, select_by="bleu")
    first = LoopState(step=2000, best=12.3, best_step=2000)
    assert line.text(first, settings, {"loss": 3.1, "bleu": 12.3}, Ending(settings, RunClock(0.0))) == (
        "step 2,000/4,000  train loss 3.214  valid loss 3.1  valid bleu 12.3  best bleu so far  3:00 left"
    )
    second = LoopState(step=4000, best=-2.5, best_step=2000)
    other = TrainSettings(steps=4000)
    assert line.text(second, other, {"loss": 3.0, "macro_f1": 0.5}, Ending(other, RunClock(0.0))) == (
        "step 4,000/4,000  train loss 3.214  valid loss 3  valid macro f1 0.5  best loss 2.5 at 2,000  0:00 left"
    )


def test_a_run_that_ends_itself_has_no_last_step_until_the_rate_falls():
    line, settings = ValidationLine(), TrainSettings(schedule="wsd", patience=3, steps=4000)
    ending = Ending(settings, RunClock(0.0))
    open_end = line.text(LoopState(step=100, best=-3.0, best_step=100), settings, {"loss": 3.0}, ending)
    assert open_end == "step 100  train loss 0.000  valid loss 3  best loss so far"
    falls = LoopState(step=100, best=-3.0, best_step=100, decay_from=90, decay_steps=20)
    assert line.text(falls, settings, {"loss": 3.0}, ending).startswith("step 100/110  ")


def test_a_run_with_a_time_limit_shows_the_time_left(monkeypatch):
    monkeypatch.setattr("regard.training.ending.time.monotonic", lambda: 30.0)
    settings = TrainSettings(schedule="wsd", minutes=2)
    text = ValidationLine().text(
        LoopState(step=5, best=-1.0, best_step=5), settings, {"loss": 1.0}, Ending(settings, RunClock(0.0))
    )
    assert text == "step 5  train loss 0.000  valid loss 1  best loss so far  1:30 left"
