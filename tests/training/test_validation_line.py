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
    assert line.text(first, settings, {"loss": 3.1, "bleu": 12.3}) == (
        "step 2,000/4,000  train loss 3.214  valid loss 3.1  valid bleu 12.3  best bleu so far  3:00 left"
    )
    second = LoopState(step=4000, best=-2.5, best_step=2000)
    assert line.text(second, TrainSettings(steps=4000), {"loss": 3.0, "macro_f1": 0.5}) == (
        "step 4,000/4,000  train loss 3.214  valid loss 3  valid macro f1 0.5  best loss 2.5 at 2,000  0:00 left"
    )
