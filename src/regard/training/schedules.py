"""Learning rate schedules: pure functions of the step."""

import math

from regard.training.settings import TrainSettings


def learning_rate(settings: TrainSettings, step: int, width: int, fall: tuple[int, int] | None = None) -> float:
    """Return the learning rate of an update, counted from 1; `width` is the model's.

    `fall` is the last update before the rate of the schedule wsd falls, and the number of updates in which it does.
    """
    peak, warmup = settings.peak_rate, settings.warmup
    if settings.schedule == "transformer":  # Vaswani et al., 2017, §5.3
        return peak * width**-0.5 * min(step**-0.5, step * warmup**-1.5)
    if settings.schedule == "wsd" and fall is not None and step > fall[0]:
        start = peak * min(1.0, fall[0] / max(1, warmup))
        return start * max(0.0, fall[0] + fall[1] + 1 - step) / (fall[1] + 1)
    if step <= warmup:
        return peak * step / warmup
    if settings.schedule == "inverse-sqrt":
        return peak * math.sqrt(max(1, warmup) / step)
    left = max(0.0, (settings.steps + 1 - step) / (settings.steps + 1 - warmup))  # reaches 0 after the last update
    if settings.schedule == "linear":
        return peak * left
    if settings.schedule == "cosine":
        return peak * (1 - math.cos(math.pi * left)) / 2
    return peak
