"""A trial on the machine: how many updates a second, and how long the run will take."""

import copy
import time
from collections.abc import Iterator

import torch

from regard.data.feed import Feed, Update
from regard.data.sampler import Position
from regard.progress import SILENT, Progress
from regard.studies.doctor.findings import Finding, graded
from regard.studies.doctor.trial import Bench
from regard.training import Hooks, Trainer

WARM = 3
"""Updates before the clock starts: the first ones allocate, compile and fill caches."""
SECONDS = 8.0
LEAST, MOST = 3, 60
DAY = 24 * 3600.0


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


def speed_findings(bench: Bench, progress: Progress = SILENT) -> list[Finding]:
    """Return how long the run will take, from a few real updates on a copy of the model."""
    settings = bench.material.settings
    seconds = seconds_per_update(bench, progress)
    whole = seconds * settings.train.steps
    per_update = min(settings.train.tokens_per_update, int(bench.material.encoded.target.lengths.sum()))
    figures = {
        "updates_per_second": 1 / seconds,
        "tokens_per_second": per_update / seconds,
        "seconds": whole,
    }
    machine = bench.machine.describe()
    sentence = (
        f"{1 / seconds:.2f} updates a second ({per_update / seconds:,.0f} target tokens) on {machine['device']} with "
        f"{machine['threads']} threads: {settings.train.steps:,} updates take about {spoken(whole)}"
        f"{' at most' if settings.train.patience else ''}, without validation."
    )
    severity = graded(whole, note=DAY / 4, warning=DAY)
    if severity == "ok":
        return [Finding("machine", "speed", "ok", sentence, figures=figures)]
    smaller = "take a smaller model (regard presets), or fewer updates"
    steps = {"train.steps": int(0.25 * DAY / seconds)} if severity == "warning" else {}
    return [Finding("machine", "speed", severity, sentence, (), smaller, steps, figures)]


def seconds_per_update(bench: Bench, progress: Progress = SILENT) -> float:
    """Return the mean time between two updates, batches and all, once things run warm."""
    device = bench.machine.device
    train = bench.material.settings.train
    feed = Timed(bench.prepared.feed, device)
    feed.exact = {WARM - 1, WARM}
    nothing = {"loss": 0.0, "bleu": 0.0}
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        trainer = Trainer(
            copy.deepcopy(bench.prepared.bundle.model),
            feed,
            bench.prepared.objective,
            train.model_copy(update={"steps": WARM + 1, "validate_every": 10**9}),
            bench.machine,
            Hooks(lambda model: nothing, lambda *_: None),
            seed=bench.material.settings.seed,
            width=bench.prepared.width,
        )
        _go_on(trainer)
        first = feed.moments[WARM] - feed.moments[WARM - 1]
        count = int(min(MOST, max(LEAST, SECONDS / max(first, 1e-6))))
        feed.exact = {WARM + 1, WARM + 1 + count}
        trainer.settings = train.model_copy(update={"steps": WARM + 2 + count, "validate_every": 10**9})
        trainer.hooks = Hooks(lambda model: nothing, lambda *_: None, progress=progress)
        _go_on(trainer)
    return (feed.moments[WARM + 1 + count] - feed.moments[WARM + 1]) / count


def _go_on(trainer: Trainer) -> None:
    if trainer.run() == "interrupted":  # the loop takes Ctrl-C for a wish to save; here there is nothing to save
        raise KeyboardInterrupt


def spoken(seconds: float) -> str:
    """Return a time span in the largest unit that fits."""
    for unit, name in ((DAY, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 1.5 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.0f} seconds"
