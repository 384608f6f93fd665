"""The line that a validation prints during training: step, losses, metrics, the best so far, and the time left."""

import time

from regard.progress import duration
from regard.training.ending import Ending
from regard.training.settings import TrainSettings
from regard.training.state import LoopState


class ValidationLine:
    """Words a validation; `train_loss` is that of the last updates, without label smoothing where there is any."""

    def __init__(self) -> None:
        self.train_loss = 0.0
        self.begin(0)

    def begin(self, step: int) -> None:
        """Start the clock of a run, or of a resumed one, at a step."""
        self.step, self.started = step, time.monotonic()

    def text(self, state: LoopState, settings: TrainSettings, metrics: dict[str, float], ending: Ending) -> str:
        """Return the line for the metrics of a validation at the state's step."""
        is_open = settings.ends_itself and state.decay_from is None
        last = ending.last_step(state)
        parts = [f"step {state.step:,}" if is_open else f"step {state.step:,}/{last:,}"]
        parts += [f"train loss {self.train_loss:.3f}"]
        parts += [f"valid {name.replace('_', ' ')} {value:.4g}" for name, value in metrics.items()]
        name = settings.select_by.replace("_", " ")
        is_best = state.best_step == state.step
        parts.append(
            f"best {name} so far" if is_best else f"best {name} {abs(state.best or 0):.4g} at {state.best_step:,}"
        )
        if settings.minutes is not None:
            parts.append(f"{duration(max(0.0, 60 * settings.minutes - ending.used))} left")
        elif not is_open:
            seconds_per_step = (time.monotonic() - self.started) / max(1, state.step - self.step)
            parts.append(f"{duration(seconds_per_step * (last - state.step))} left")
        return "  ".join(parts)
