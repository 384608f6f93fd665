"""The micro-batch of a run that takes the most memory."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from regard.data.feeds.feed import Examples, PairFeed
from regard.data.feeds.sampler import Position, Rows, micro_batches
from regard.studies.doctor.trial import TrialSetup
from regard.tasks.contract import find_task

LATER = 10**6
"""An epoch by which texts that grow longer in the course of training have done so."""


@dataclass(frozen=True)
class Heaviest:
    """A micro-batch, to be had whole or in part."""

    rows: int
    """How many examples it has."""
    part: Callable[[int], Any]
    """Makes a batch of its first so many examples, or about as many."""
    words: str
    """What is in it."""
    longest: int
    """Tokens of the longest example: a micro-batch of fewer is none."""


def heaviest(bench: TrialSetup, limit: int) -> Heaviest:
    """Return the heaviest micro-batch when they hold so many tokens at most."""
    feed = bench.prepared.feed
    if not isinstance(feed, PairFeed):
        return _of_text(feed, limit)
    examples = feed.corpus(0)
    rows = heaviest_rows(feed, examples, limit, bench.prepared.width)
    source, target = examples.lengths
    lengths = f"{int(target[rows].max())} tokens"
    if source[rows].any():
        lengths = f"{int(source[rows].max())} and {lengths}"
    words = f"{len(rows):,} {find_task(bench.settings.task).wording.examples} of up to {lengths}"
    return Heaviest(len(rows), lambda count: examples.batch(rows[:count]), words, int((source + target).max()))


def heaviest_rows(feed: PairFeed, examples: Examples, limit: int, width: int) -> Rows:
    """Return the rows of the micro-batch of the first epoch that takes the most memory."""
    lengths = examples.lengths
    parts = [part for update in feed.plan(examples, 0) for part in micro_batches(update, *lengths, limit)]

    def size(rows: Rows) -> float:
        source, target = (int(side[rows].max()) for side in lengths)
        # Attention weights grow with the square of the length where no fused kernel hides them.
        return len(rows) * (source + target + (source**2 + target**2 + source * target) / width)

    return max(parts, key=size)


def _of_text(feed: Any, limit: int) -> Heaviest:
    """Return one of the micro-batches of running text, which are all alike."""
    whole, window = (_cut(feed, each).tokens.numel() for each in (limit, 1))
    return Heaviest(max(1, whole // window), lambda rows: _cut(feed, rows * window), f"{whole:,} tokens", window)


def _cut(feed: Any, limit: int) -> Any:
    """Return the largest micro-batch of an early update and of a late one, when they are cut by a limit."""
    other = copy.copy(feed)
    other.limit = limit
    updates = [next(other.updates(Position(epoch, 0))) for epoch in (0, LATER)]
    return max(
        (batch for update in updates for batch in update.micro_batches), key=lambda batch: batch.tokens.numel()
    )
