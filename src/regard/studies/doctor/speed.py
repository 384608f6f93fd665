"""The speed trial: updates per second on this machine, and the duration of the run."""

import copy
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import cycle, islice

import torch

from regard.data.feeds.feed import Feed, Update
from regard.data.feeds.sampler import Position
from regard.progress import SILENT, Bar, Progress
from regard.studies.doctor.trial import TrialSetup
from regard.tasks.contract import find_task
from regard.tasks.findings import Finding, graded, percent
from regard.training.hooks import Hooks
from regard.training.loop import Trainer

WARM = 3
"""Warm-up updates, not timed: the first ones allocate, compile and fill caches."""
SECONDS, QUICK_SECONDS = 8.0, 1.0
"""Target duration of the timed updates: of the doctor, and of a dry run."""
LEAST, MOST = 3, 60
"""Bounds of the number of timed updates."""
REPEATED = 12
"""Updates that a trial repeats where CUDA graphs are captured by shape: computed the first time, captured the second,
and replayed from the third on."""
ENDLESS = {"steps": 0, "validate_every": 10**9, "schedule": "constant", "minutes": None, "patience": 0}
"""Settings of a trial, which neither validates nor ends by itself."""
COUNTED = 300
"""Updates whose shapes are counted."""
DAY = 24 * 3600.0
MUCH, TOO_MUCH = 0.05, 0.2
"""Fractions of the time spent waiting for data from which it is a note, and a warning."""


@dataclass(frozen=True)
class Pace:
    """The training speed of a run."""

    seconds: float
    """Seconds per update after the warm-up."""
    capture_seconds: float = 0.0
    """Seconds of capturing the CUDA graphs of all shapes, once in a run."""
    data_wait: float = 0.0
    """Fraction of the time spent waiting for data."""
    tokens: float = 0.0
    """Training tokens per update."""

    def updates_in(self, seconds: float) -> int:
        """Return the number of updates in a duration."""
        return int(max(0.0, seconds - self.capture_seconds) / self.seconds)


class RepeatedUpdates:
    """The first updates of a feed, repeated without end."""

    def __init__(self, feed: Feed, count: int) -> None:
        self.limit = feed.limit
        self._updates = list(islice(feed.updates(Position()), count))

    def updates(self, position: Position, rank: int = 0, world: int = 1) -> Iterator[Update]:
        """Return an endless iterator over the updates, from the first one."""
        return cycle(self._updates)

    def updates_in(self, epoch: int) -> int:
        """Return the number of updates."""
        return len(self._updates)


class TimedFeed:
    """A feed that records when each update was requested."""

    def __init__(self, feed: Feed, device: torch.device) -> None:
        self.feed, self.device = feed, device
        self.moments: list[float] = []
        self.synchronized: set[int] = set()
        """Indices of the moments before which the device is synchronized; always would slow it down."""

    @property
    def limit(self) -> int:
        """Maximum number of padded tokens of a micro-batch."""
        return self.feed.limit

    @limit.setter
    def limit(self, value: int) -> None:
        self.feed.limit = value

    def updates(self, position: Position, rank: int = 0, world: int = 1) -> Iterator[Update]:
        """Yield the updates of the feed."""
        for update in self.feed.updates(position, rank, world):
            if self.device.type == "cuda" and len(self.moments) in self.synchronized:
                torch.cuda.synchronize(self.device)
            self.moments.append(time.perf_counter())
            yield update

    def updates_in(self, epoch: int) -> int:
        """Return the number of updates in an epoch."""
        return self.feed.updates_in(epoch)


class BarsOnly(Progress):
    """Forwards the bars of a trial; its validations are none."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress

    @contextmanager
    def bar(self, title: str, total: int | None = None, done: int = 0) -> Iterator[Bar]:
        """Forward a bar."""
        with self.progress.bar(title, total, done) as bar:
            yield bar


def speed_findings(setup: TrialSetup, progress: Progress = SILENT) -> list[Finding]:
    """Return the duration of the run, extrapolated from a few real updates on a copy of the model."""
    pace, train = measure_pace(setup, progress), setup.train
    updates, seconds = _updates(setup, pace), pace.seconds
    total = seconds * updates + pace.capture_seconds
    per_update = pace.tokens
    metrics = {
        "updates_per_second": 1 / seconds,
        "tokens_per_second": per_update / seconds,
        "seconds": total,
    }
    machine = setup.machine.describe()
    unit = find_task(setup.settings.task).wording.tokens
    sentence = (
        f"{1 / seconds:.2f} updates per second ({per_update / seconds:,.0f} {unit}) on {machine['device']} with "
        f"{machine['threads']} threads: {updates:,} updates take about {duration_words(total)}"
        f"{' at most' if train.patience or train.ends_itself else ''}, without validation."
    )
    severity = "ok" if train.is_open else graded(total, note=DAY / 4, warning=DAY)
    data_wait = _data_wait(pace.data_wait)
    if severity == "ok":
        return [Finding("machine", "speed", "ok", sentence, (), "", {}, metrics), data_wait]
    smaller = "use a smaller model (regard presets), or fewer updates"
    steps = {"train.steps": int(0.25 * DAY / seconds)} if severity == "warning" else {}
    return [Finding("machine", "speed", severity, sentence, (), smaller, steps, metrics), data_wait]


def training_time(setup: TrialSetup, progress: Progress = SILENT) -> tuple[int, float]:
    """Return the updates of a run and their estimated seconds, from a second or two of timed updates."""
    pace = measure_pace(setup, progress, QUICK_SECONDS)
    updates = _updates(setup, pace)
    return updates, pace.seconds * updates + pace.capture_seconds


def _updates(setup: TrialSetup, pace: Pace) -> int:
    """Return the number of updates, or their limit where validation or the clock ends the run."""
    train = setup.train
    updates = train.planned(setup.prepared.feed.updates_in(0)).steps if train.depends_on_data else train.steps
    return updates if train.minutes is None else min(updates, pace.updates_in(60 * train.minutes))


def _data_wait(fraction: float) -> Finding:
    """Return the finding on the fraction of the time that the loop waits for data."""
    severity = graded(fraction, note=MUCH, warning=TOO_MUCH)
    sentence = f"{percent(fraction, 1)} of that time is spent waiting for data."
    remedy = "" if severity == "ok" else "keep the data on a faster disk, or run fewer other programs"
    return Finding("machine", "data-wait", severity, sentence, (), remedy, {}, {"fraction": fraction})


def measure_pace(setup: TrialSetup, progress: Progress = SILENT, duration: float | None = None) -> Pace:
    """Return the mean time per update, with the time to make batches, and that of capturing CUDA graphs."""
    devices = [setup.machine.device] if setup.machine.device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        if setup.machine.has_graphs:
            return graph_pace(setup, progress)
        return _plain_pace(setup, progress, SECONDS if duration is None else duration)


def _plain_pace(setup: TrialSetup, progress: Progress, duration: float) -> Pace:
    feed = TimedFeed(setup.prepared.feed, setup.machine.device)
    feed.synchronized = {WARM - 1, WARM}
    trainer = _trainer(setup, feed)
    _train(trainer, WARM + 1)
    first = feed.moments[WARM] - feed.moments[WARM - 1]
    count = int(min(MOST, max(LEAST, duration / max(first, 1e-6))))
    feed.synchronized = {WARM + 1, WARM + 1 + count}
    data_wait = _train(trainer, 1 + count, progress)
    seconds = (feed.moments[WARM + 1 + count] - feed.moments[WARM + 1]) / count
    return Pace(seconds, data_wait=data_wait, tokens=trainer.state.tokens_seen / trainer.state.step)


def graph_pace(setup: TrialSetup, progress: Progress = SILENT) -> Pace:
    """Return the pace with CUDA graphs: the time of replays, and of all captures once."""
    machine, limit = setup.machine, getattr(setup.prepared.bundle.model, "max_positions", None)
    some = RepeatedUpdates(setup.prepared.feed, REPEATED)
    feed = TimedFeed(some, machine.device)
    trainer = _trainer(setup, feed)
    started = time.perf_counter()
    _train(trainer, 2 * REPEATED)
    warm_up = time.perf_counter() - started
    feed.moments.clear()
    count = MOST
    feed.synchronized = {REPEATED, REPEATED + count}
    data_wait = _train(trainer, REPEATED + count + 1, progress)
    seconds = (feed.moments[REPEATED + count] - feed.moments[REPEATED]) / count
    feeds = (some.updates(Position()), setup.prepared.feed.updates(Position()))
    captured, all_shapes = (_shapes(updates, limit) for updates in feeds)
    capture_seconds = max(0.0, warm_up - 2 * REPEATED * seconds) * all_shapes / captured
    return Pace(seconds, capture_seconds, data_wait, trainer.state.tokens_seen / trainer.state.step)


def _shapes(updates: Iterator[Update], limit: int | None) -> int:
    """Return the number of different bucketed shapes of the micro-batches of the first updates."""
    some = islice(updates, COUNTED)
    return len({batch.padded_to_bucket(limit).shape for update in some for batch in update.micro_batches})


def _trainer(setup: TrialSetup, feed: Feed) -> Trainer:
    """Return a trainer of a copy of the model that writes no files."""
    nothing = {"loss": 0.0, setup.train.select_by: 0.0}
    return Trainer(
        copy.deepcopy(setup.prepared.bundle.model),
        feed,
        setup.prepared.objective,
        setup.train.model_copy(update=ENDLESS),
        setup.machine,
        Hooks(lambda model: nothing, lambda *_: None),
        seed=setup.settings.seed,
        width=setup.prepared.width,
    )


def _train(trainer: Trainer, count: int, progress: Progress = SILENT) -> float:
    """Train for `count` updates, and return the fraction of the time spent waiting for data."""
    before = replace(trainer.state)
    settings = trainer.settings.model_copy(update={"steps": trainer.state.step + count})
    trainer.settings = trainer.ending.settings = settings
    trainer.hooks = Hooks(trainer.hooks.validate, trainer.hooks.save, progress=BarsOnly(progress))
    if trainer.run() == "interrupted":  # the loop handles Ctrl-C by saving; a trial saves nothing
        raise KeyboardInterrupt
    return (trainer.state.waited - before.waited) / max(trainer.state.seconds - before.seconds, 1e-9)


def duration_words(seconds: float) -> str:
    """Return a duration in the largest unit that fits."""
    for unit, name in ((DAY, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 1.5 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.0f} seconds"
