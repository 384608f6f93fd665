"""The learning-rate range test: the loss while the rate rises until training diverges (Smith, 2017)."""

import math
from dataclasses import dataclass

import numpy as np

from regard.data.feeds.sampler import Position
from regard.progress import SILENT, Progress
from regard.studies.doctor.trial import TrialSetup, isolated_trial
from regard.tasks.findings import Finding, Severity
from regard.training.schedules import learning_rate
from regard.training.settings import TrainSettings

LOWEST, HIGHEST = 1e-6, 1.0
UPDATES = 120
SMOOTHING = 0.8
"""Weight of the past in the running mean of the loss."""
DIVERGED = 1.3
"""Multiple of the lowest loss at which the sweep ends."""
SAFETY = 10.0
"""Factor between the rate of the minimum loss and the suggested peak: a run stays near its peak for many updates."""
FAR = 5.0
"""Factor between the configured rate and the suggested one that is worth a note."""
ROWS, BAR = 20, 40
"""Lines of the curve as text, and characters of its longest bar."""


@dataclass(frozen=True)
class Sweep:
    """The rates of the sweep, in ascending order, and the smoothed loss at each."""

    rates: list[float]
    losses: list[float]

    @property
    def rate_at_minimum(self) -> float:
        """The rate of the lowest loss; training diverges above it."""
        return self.rates[int(np.argmin(self.losses))]

    @property
    def suggested(self) -> float:
        """A safe peak rate, to one digit."""
        return float(f"{self.rate_at_minimum / SAFETY:.0e}")

    def curve(self) -> tuple[str, ...]:
        """Return the losses as lines of text with bars; the suggested rate is marked."""
        rows = np.unique(np.linspace(0, len(self.rates) - 1, ROWS).round().astype(int))
        low, high = min(self.losses), max(self.losses)
        scale = BAR / max(high - low, 1e-9)
        marked = min(rows, key=lambda row: abs(math.log(self.rates[row] / self.suggested)))
        return tuple(
            f"{self.rates[row]:.1e}  {self.losses[row]:6.3f}  {'█' * round((self.losses[row] - low) * scale)}"
            f"{' ◄' if row == marked else ''}"
            for row in rows
        )


def sweep(setup: TrialSetup, progress: Progress = SILENT, updates: int = UPDATES) -> Sweep:
    """Train a copy of the model on real updates while the rate rises by a constant factor."""
    feed = setup.prepared.feed.updates(Position())
    rates: list[float] = []
    losses: list[float] = []
    mean = 0.0
    with isolated_trial(setup) as trial, progress.bar("learning-rate range test", updates) as bar:
        for rate, update in zip(np.geomspace(LOWEST, HIGHEST, updates).tolist(), feed):
            loss = trial.update(update.micro_batches, rate)
            if not math.isfinite(loss):
                break
            mean = SMOOTHING * mean + (1 - SMOOTHING) * loss
            rates.append(rate)
            losses.append(mean / (1 - SMOOTHING ** len(rates)))  # without the bias of a mean that starts at 0
            bar.advance(1, loss=losses[-1])
            if losses[-1] > DIVERGED * min(losses):
                break
    return Sweep(rates, losses)


def rate_findings(setup: TrialSetup, progress: Progress = SILENT) -> list[Finding]:
    """Return the peak rate that a sweep suggests, compared with the configured one."""
    settings = setup.train
    if settings.depends_on_data:
        settings = settings.planned(setup.prepared.feed.updates_in(epoch=0))
    result = sweep(setup, progress)
    peak = learning_rate(settings, max(1, int(settings.warmup)), setup.prepared.width)
    compared: tuple[Severity, str] = ("ok", "close to that")
    if peak > result.rate_at_minimum:
        compared = "warning", "high enough for the loss to rise"
    elif peak > FAR * result.suggested:
        compared = "note", "much higher"
    elif peak < result.suggested / FAR:
        compared = "note", "much lower"
    severity, comparison = compared
    sentence = (
        f"The loss falls up to a rate of {result.rate_at_minimum:.1e}, which suggests a peak of "
        f"{result.suggested:.0e}; the configured peak is {peak:.1e}, {comparison}."
    )
    is_far = severity != "ok"
    return [
        Finding(
            "rate",
            "learning-rate",
            severity,
            sentence,
            result.curve(),
            "try the suggested rate" if is_far else "",
            {"train.learning_rate": as_setting(settings, result.suggested, setup.prepared.width)} if is_far else {},
            {"suggested": result.suggested, "rate_at_minimum": result.rate_at_minimum, "peak": peak},
        )
    ]


def as_setting(settings: TrainSettings, peak: float, width: int) -> float:
    """Return the value of train.learning_rate for a peak rate."""
    # With schedule transformer the setting is a factor on the formula of the paper, elsewhere the peak itself.
    factor = learning_rate(settings.model_copy(update={"learning_rate": 1.0}), max(1, int(settings.warmup)), width)
    return float(f"{peak / factor:.1e}")
