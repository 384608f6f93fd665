"""The learning-rate range test: how far the rate can rise before learning breaks down (Smith, 2017)."""

import math
from dataclasses import dataclass

import numpy as np

from regard.data.feeds.sampler import Position
from regard.progress import SILENT, Progress
from regard.studies.doctor.trial import TrialSetup, trying
from regard.tasks.findings import Finding, Severity
from regard.training.schedules import learning_rate
from regard.training.settings import TrainSettings

LOWEST, HIGHEST = 1e-6, 1.0
UPDATES = 120
SMOOTHING = 0.8
"""Weight of the past in the running mean of the loss."""
BROKEN = 1.3
"""The sweep ends once the loss is so many times the lowest one."""
SAFETY = 10.0
"""How far below the turn the suggestion lies: the sweep passes each rate once, a run stays near its peak for long."""
FAR = 5.0
"""A factor between the set rate and the suggested one that is worth a word."""
ROWS, BAR = 20, 40


@dataclass(frozen=True)
class Sweep:
    """The rates that were tried, rising, and the smoothed loss at each."""

    rates: list[float]
    losses: list[float]

    @property
    def turning(self) -> float:
        """The rate of the lowest loss: beyond it learning breaks down."""
        return self.rates[int(np.argmin(self.losses))]

    @property
    def suggested(self) -> float:
        """A peak rate that is safe and not slow, to one digit."""
        return float(f"{self.turning / SAFETY:.0e}")

    def curve(self) -> tuple[str, ...]:
        """Return the losses as lines of text, longer bars for higher losses; the suggested rate is marked."""
        places = np.unique(np.linspace(0, len(self.rates) - 1, ROWS).round().astype(int))
        low, high = min(self.losses), max(self.losses)
        scale = BAR / max(high - low, 1e-9)
        marked = min(places, key=lambda place: abs(math.log(self.rates[place] / self.suggested)))
        return tuple(
            f"{self.rates[place]:.1e}  {self.losses[place]:6.3f}  {'█' * round((self.losses[place] - low) * scale)}"
            f"{' ◄' if place == marked else ''}"
            for place in places
        )


def sweep(bench: TrialSetup, progress: Progress = SILENT, updates: int = UPDATES) -> Sweep:
    """Learn from real updates on a copy of the model while the rate rises by the same factor each time."""
    feed = bench.prepared.feed.updates(Position())
    found = Sweep([], [])
    mean = 0.0
    with trying(bench) as trial, progress.bar("find the rate", updates) as bar:
        for rate, update in zip(np.geomspace(LOWEST, HIGHEST, updates).tolist(), feed):
            loss = trial.update(update.micro_batches, rate)
            if not math.isfinite(loss):
                break
            mean = SMOOTHING * mean + (1 - SMOOTHING) * loss
            found.rates.append(rate)
            found.losses.append(
                mean / (1 - SMOOTHING ** len(found.rates))
            )  # the mean starts at 0, which must not count
            bar.advance(1, loss=found.losses[-1])
            if found.losses[-1] > BROKEN * min(found.losses):
                break
    return found


def rate_findings(bench: TrialSetup, progress: Progress = SILENT) -> list[Finding]:
    """Return the peak rate that a sweep suggests, and how the set one compares."""
    settings = bench.train
    if settings.depends_on_data:
        settings = settings.planned(bench.prepared.feed.updates_in(epoch=0))
    found = sweep(bench, progress)
    peak = learning_rate(settings, max(1, int(settings.warmup)), bench.prepared.width)
    compared: tuple[Severity, str] = ("ok", "close to that")
    if peak > found.turning:
        compared = "warning", "so high that the loss rises"
    elif peak > FAR * found.suggested:
        compared = "note", "much higher"
    elif peak < found.suggested / FAR:
        compared = "note", "much lower"
    severity, comparison = compared
    sentence = (
        f"The loss falls until a rate of {found.turning:.1e}, which suggests a peak of {found.suggested:.0e}; the "
        f"peak set is {peak:.1e}, {comparison}."
    )
    is_far = severity != "ok"
    return [
        Finding(
            "rate",
            "learning-rate",
            severity,
            sentence,
            found.curve(),
            "try the suggested rate" if is_far else "",
            {"train.learning_rate": as_setting(settings, found.suggested, bench.prepared.width)} if is_far else {},
            {"suggested": found.suggested, "turning": found.turning, "peak": peak},
        )
    ]


def as_setting(settings: TrainSettings, peak: float, width: int) -> float:
    """Return the value of train.learning_rate that gives this peak."""
    # With the schedule of the paper the setting is a factor on its formula, elsewhere the peak itself.
    one = learning_rate(settings.model_copy(update={"learning_rate": 1.0}), max(1, int(settings.warmup)), width)
    return float(f"{peak / one:.1e}")
