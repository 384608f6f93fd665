"""Learning rate schedules: pure functions of the step."""

import math

from regard.training.settings import TrainSettings


def learning_rate(settings: TrainSettings, step: int, width: int) -> float:
    """Return the learning rate of an update, counted from 1; `width` is the model's."""
    peak, warmup = settings.peak_rate, settings.warmup
    if settings.schedule == "transformer":  # Vaswani et al., 2017, §5.3
        return peak * width**-0.5 * min(step**-0.5, step * warmup**-1.5)
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
