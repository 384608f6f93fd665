"""A trial on the machine: how many updates a second, and how long the run will take."""

import copy
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import cycle, islice

import torch

from regard.data.feeds.feed import Feed, Update
from regard.data.feeds.sampler import Position
from regard.progress import SILENT, Progress
from regard.studies.doctor.trial import TrialSetup
from regard.tasks.contract import find_task
from regard.tasks.findings import Finding, graded, percent
from regard.training.loop import Hooks, Trainer

WARM = 3
"""Updates before the clock starts: the first ones allocate, compile and fill caches."""
SECONDS = 8.0
LEAST, MOST = 3, 60
REPEATED = 12
"""Updates a trial goes through again and again where steps are recorded by shape: first they are computed, then
recorded, and from the third time on replayed."""
LOOKED_THROUGH = 300
"""Updates whose shapes are counted."""
DAY = 24 * 3600.0
MUCH, TOO_MUCH = 0.05, 0.2
"""Shares of the time that the wait for data may take before it is worth a word, and before it is a pity."""


@dataclass(frozen=True)
class Pace:
    """How fast a run goes."""

    seconds: float
    """Between two updates, once things run warm."""
    once: float = 0.0
    """Seconds that it takes to record all shapes, spread over the run."""
    waiting: float = 0.0
    """The share of the time in which the loop waits for data."""
    tokens: float = 0.0
    """Tokens that an update learns from."""

    def updates_in(self, seconds: float) -> int:
        """Return how many updates fit into a time."""
        return int(max(0.0, seconds - self.once) / self.seconds)


class Round:
    """The first updates of a feed, over and over."""

    def __init__(self, feed: Feed, count: int) -> None:
        self.limit = feed.limit
        self._items = list(islice(feed.updates(Position()), count))

    def updates(self, position: Position, rank: int = 0, world: int = 1) -> Iterator[Update]:
        """Yield the updates from the first on, for ever."""
        return cycle(self._items)

    def updates_in(self, epoch: int) -> int:
        """Return how many updates there are."""
        return len(self._items)


class Timed:
    """A feed that notes when each update was asked for."""

    def __init__(self, feed: Feed, device: torch.device) -> None:
        self.feed, self.device = feed, device
        self.moments: list[float] = []
        self.exact: set[int] = set()
        """The moments before which the device must have finished; waiting every time would slow it down."""

    @property
    def limit(self) -> int:
        """Padded tokens of a micro-batch at most."""
        return self.feed.limit

    @limit.setter
    def limit(self, value: int) -> None:
        self.feed.limit = value

    def updates(self, position: Position, rank: int = 0, world: int = 1) -> Iterator[Update]:
        """Yield the updates of the feed."""
        for update in self.feed.updates(position, rank, world):
            if self.device.type == "cuda" and len(self.moments) in self.exact:
                torch.cuda.synchronize(self.device)
            self.moments.append(time.perf_counter())
            yield update

    def updates_in(self, epoch: int) -> int:
        """Return how many updates an epoch has."""
        return self.feed.updates_in(epoch)


def speed_findings(bench: TrialSetup, progress: Progress = SILENT) -> list[Finding]:
    """Return how long the run will take, from a few real updates on a copy of the model."""
    found, train = pace(bench, progress), bench.train
    updates = train.planned(bench.prepared.feed.updates_in(0)).steps if train.depends_on_data else train.steps
    seconds, whole = found.seconds, found.seconds * updates + found.once
    per_update = found.tokens
    metrics = {
        "updates_per_second": 1 / seconds,
        "tokens_per_second": per_update / seconds,
        "seconds": whole,
    }
    machine = bench.machine.describe()
    unit = find_task(bench.settings.task).wording.tokens
    sentence = (
        f"{1 / seconds:.2f} updates a second ({per_update / seconds:,.0f} {unit}) on {machine['device']} with "
        f"{machine['threads']} threads: {updates:,} updates take about {spoken(whole)}"
        f"{' at most' if train.patience else ''}, without validation."
    )
    severity = graded(whole, note=DAY / 4, warning=DAY)
    waiting = _waiting(found.waiting)
    if severity == "ok":
        return [Finding("machine", "speed", "ok", sentence, metrics=metrics), waiting]
    smaller = "take a smaller model (regard presets), or fewer updates"
    steps = {"train.steps": int(0.25 * DAY / seconds)} if severity == "warning" else {}
    return [Finding("machine", "speed", severity, sentence, (), smaller, steps, metrics), waiting]


def _waiting(share: float) -> Finding:
    """Say how much of the time goes by before there is something to learn from."""
    severity = graded(share, note=MUCH, warning=TOO_MUCH)
    sentence = f"{percent(share, 1)} of that time goes by waiting for data."
    remedy = "" if severity == "ok" else "keep the data on a faster disk, or leave other programs fewer cores"
    return Finding("machine", "waiting", severity, sentence, (), remedy, metrics={"share": share})


def pace(bench: TrialSetup, progress: Progress = SILENT) -> Pace:
    """Return the mean time between two updates, batches and all, and what recordings add to it."""
    devices = [bench.machine.device] if bench.machine.device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        return (recorded_pace if bench.machine.has_graphs else _plain_pace)(bench, progress)


def _plain_pace(bench: TrialSetup, progress: Progress) -> Pace:
    feed = Timed(bench.prepared.feed, bench.machine.device)
    feed.exact = {WARM - 1, WARM}
    trainer = _trainer(bench, feed)
    _go_on(trainer, WARM + 1)
    first = feed.moments[WARM] - feed.moments[WARM - 1]
    count = int(min(MOST, max(LEAST, SECONDS / max(first, 1e-6))))
    feed.exact = {WARM + 1, WARM + 1 + count}
    waiting = _go_on(trainer, 1 + count, progress)
    seconds = (feed.moments[WARM + 1 + count] - feed.moments[WARM + 1]) / count
    return Pace(seconds, waiting=waiting, tokens=trainer.state.tokens_seen / trainer.state.step)


def recorded_pace(bench: TrialSetup, progress: Progress = SILENT) -> Pace:
    """Return the pace where shapes are recorded: replays alone, and all recordings once."""
    machine, limit = bench.machine, getattr(bench.prepared.bundle.model, "max_positions", None)
    some = Round(bench.prepared.feed, REPEATED)
    feed = Timed(some, machine.device)
    trainer = _trainer(bench, feed)
    started = time.perf_counter()
    _go_on(trainer, 2 * REPEATED)
    warm = time.perf_counter() - started
    feed.moments.clear()
    count = MOST
    feed.exact = {REPEATED, REPEATED + count}
    waiting = _go_on(trainer, REPEATED + count + 1, progress)
    seconds = (feed.moments[REPEATED + count] - feed.moments[REPEATED]) / count
    whole = islice(bench.prepared.feed.updates(Position()), LOOKED_THROUGH)
    known, all_shapes = (_shapes(updates, limit) for updates in (some.updates(Position()), whole))
    once = max(0.0, warm - 2 * REPEATED * seconds) * all_shapes / known
    return Pace(seconds, once, waiting, trainer.state.tokens_seen / trainer.state.step)


def _shapes(updates: Iterator[Update], limit: int | None) -> int:
    """Return how many shapes the micro-batches of some updates have once rounded."""
    some = islice(updates, LOOKED_THROUGH)
    return len({batch.padded_to_bucket(limit).shape for update in some for batch in update.micro_batches})


def _trainer(bench: TrialSetup, feed: Feed) -> Trainer:
    """Return a trainer of a copy of the model that saves nothing."""
    nothing = {"loss": 0.0, bench.train.select_by: 0.0}
    return Trainer(
        copy.deepcopy(bench.prepared.bundle.model),
        feed,
        bench.prepared.objective,
        bench.train.model_copy(update={"steps": 0, "validate_every": 10**9}),
        bench.machine,
        Hooks(lambda model: nothing, lambda *_: None),
        seed=bench.settings.seed,
        width=bench.prepared.width,
    )


def _go_on(trainer: Trainer, count: int, progress: Progress = SILENT) -> float:
    """Take so many updates, and return the share of the time that was spent waiting for data."""
    before = replace(trainer.state)
    trainer.settings = trainer.settings.model_copy(update={"steps": trainer.state.step + count})
    trainer.hooks = Hooks(trainer.hooks.validate, trainer.hooks.save, progress=progress)
    if trainer.run() == "interrupted":  # the loop takes Ctrl-C for a wish to save; here there is nothing to save
        raise KeyboardInterrupt
    return (trainer.state.waited - before.waited) / max(trainer.state.seconds - before.seconds, 1e-9)


def spoken(seconds: float) -> str:
    """Return a time span in the largest unit that fits."""
    for unit, name in ((DAY, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 1.5 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.0f} seconds"
