"""The end of a run: when the rate of the schedule wsd (warm-up, stable, decay) falls, and the last update."""

import math
import time
from dataclasses import dataclass

from regard.training.hooks import SCORINGS
from regard.training.settings import TrainSettings
from regard.training.state import LoopState

FALL = 0.25
"""Updates of the fall, as a fraction of those before it (Hägele et al., 2024: a fifth of the whole run suffices)."""
RESERVE = 0.03
"""The smallest fraction of the limit that is kept for final scores."""
CARD, OF_START_UP = 2.0, 0.7
"""Time kept for the card and the end of the process: so many seconds, or that fraction of the seconds before training
began, which depend on the load of the machine as the card does."""
MOST_RESERVED = 0.3
"""The largest fraction of the limit that is kept for scores."""
VALIDATED = 0.25
"""The largest fraction of a limited time that validations take before the last one."""


@dataclass(frozen=True)
class RunClock:
    """The time.monotonic() from which a time limit counts, and the seconds from there to the start of the run."""

    began: float
    start_up: float = 0.0

    @classmethod
    def since(cls, began: float | None = None) -> "RunClock":
        """Return the clock of a run that starts now; the time limit counts from `began` (default: now)."""
        now = time.monotonic()
        return cls(now) if began is None else cls(began, now - began)


class Ending:
    """Decides when the rate falls, from validations, the number of updates, and the clock."""

    def __init__(self, settings: TrainSettings, clock: RunClock | None = None, scorings: float = SCORINGS) -> None:
        self.settings, self.clock, self.scorings = settings, clock or RunClock.since(), scorings
        self.earlier = 0.0
        """Seconds used by earlier sessions of the run."""
        self.slowest = 0.0
        """Seconds of the slowest validation."""
        self.validation = 0.0
        """Mean seconds of the latest validations."""
        self.validated = 0.0
        """Seconds of all validations of this session."""
        self.pace: float | None = None
        """Seconds of an update, validations excluded; None: not measured yet."""

    def measure(self, seconds: float) -> None:
        """Take in the mean duration of the latest updates."""
        self.pace = seconds if self.pace is None else 0.5 * (self.pace + seconds)

    def measure_validation(self, seconds: float) -> None:
        """Take in the duration of a validation."""
        self.validation = 0.5 * (self.validation + seconds) if self.slowest else seconds
        self.slowest = max(self.slowest, seconds)
        self.validated += seconds

    @property
    def used(self) -> float:
        """Seconds used since the run began, by all sessions."""
        return self.earlier + self._session

    @property
    def _session(self) -> float:
        return time.monotonic() - self.clock.began

    def may_validate(self, state: LoopState) -> bool:
        """Return False where validations take too much of a limited time, or the last one is near."""
        if state.decay_from is not None and self.last_step(state) - state.step < self.settings.validate_every // 2:
            return False
        return self.validation == 0 or self.validated + self.validation <= VALIDATED * self._session

    @property
    def left(self) -> float:
        """Seconds left for training, with those for final scores kept back."""
        limit = 60 * (self.settings.minutes or math.inf)
        scores = max(RESERVE * limit, self.scorings * self.slowest)
        reserve = min(MOST_RESERVED * limit, max(CARD, OF_START_UP * self.clock.start_up) + scores)
        return limit - self.used - reserve

    def last_step(self, state: LoopState) -> int:
        """Return the number of the last update, as far as it is known."""
        steps = self.settings.steps
        return steps if state.decay_from is None else min(steps, state.decay_from + state.decay_steps)

    def progress(self, state: LoopState) -> float:
        """Return the fraction of the training that is done: by updates, or by the clock where that ends it."""
        by_clock = self.used / (60 * self.settings.minutes) if self.settings.minutes is not None else 0.0
        return min(1.0, max(by_clock, state.step / self.last_step(state)))

    def is_over(self, state: LoopState) -> bool:
        """Return True if the last update is done, or early stopping ends the run."""
        settings = self.settings
        stops_early = settings.schedule != "wsd" and bool(settings.patience) and state.stale >= settings.patience
        return stops_early or state.step >= self.last_step(state)

    def reason_to_fall(self, state: LoopState) -> str:
        """Return why the rate falls from here on; empty: it does not."""
        settings, length = self.settings, fall_length(state.step)
        if settings.schedule != "wsd" or state.decay_from is not None:
            return ""
        if settings.patience and state.stale >= settings.patience:
            return f"validation has not improved since step {state.best_step:,}"
        if state.step + length >= settings.steps:
            return f"the limit is {settings.steps:,} updates"
        if settings.minutes is not None and self.pace is not None and self._time_of(length) >= self.left:
            return f"{settings.minutes:g} minutes are nearly up"
        return ""

    def begin_fall(self, state: LoopState) -> None:
        """Decide that the rate falls after the current update."""
        state.decay_from = state.step
        state.decay_steps = min(fall_length(state.step), self.settings.steps - state.step)

    def is_late(self, state: LoopState) -> bool:
        """Return True if the time left is too short for the rest of the fall by a tenth."""
        if self.settings.minutes is None or self.pace is None or state.decay_from is None:
            return False
        rest = self.last_step(state) - state.step
        return rest > 1 and 0.9 * self._time_of(rest) > self.left

    def shorten(self, state: LoopState) -> None:
        """Make the rest of the fall shorter by a third."""
        assert state.decay_from is not None
        rest = self.last_step(state) - state.step
        state.decay_steps = state.step - state.decay_from + max(1, 2 * rest // 3)

    def is_early(self, state: LoopState) -> bool:
        """Return True if the time left is longer than the rest of the fall by a fifth."""
        if self.settings.minutes is None or self.pace is None or state.decay_from is None:
            return False
        return 1.2 * self._time_of(self.last_step(state) - state.step) < self.left

    def lengthen(self, state: LoopState) -> None:
        """Make the rest of the fall longer by a fifth, at least by an update."""
        rest = self.last_step(state) - state.step
        state.decay_steps = min(self.settings.steps, state.decay_steps + max(1, rest // 5))

    def _time_of(self, updates: int) -> float:
        """Return the seconds that updates take with their validations, at the measured pace."""
        seconds = updates * (self.pace or 0.0)
        between = int(updates / max(1, self.settings.validate_every)) * self.validation
        return seconds + min(between, VALIDATED / (1 - VALIDATED) * seconds + self.validation) + self.validation


def fall_length(step: int) -> int:
    """Return the updates of a fall that begins after a step."""
    return max(1, math.ceil(FALL * step))
