"""The micro-batch of a run that needs the most memory."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from regard.data.feeds.feed import Examples, PairFeed
from regard.data.feeds.sampler import Position, Rows, micro_batches
from regard.studies.doctor.trial import TrialSetup
from regard.tasks.contract import find_task

LATER = 10**6
"""An epoch after every switch to longer sequences."""


@dataclass(frozen=True)
class LargestBatch:
    """The largest micro-batch, whole or a part of it."""

    rows: int
    """Number of examples."""
    part: Callable[[int], Any]
    """Returns a batch of about that many of its examples."""
    words: str
    """Its size in words."""
    longest: int
    """Tokens of the longest example: the least that a micro-batch must hold."""


def largest_batch(setup: TrialSetup, limit: int) -> LargestBatch:
    """Return the largest micro-batch for a limit in padded tokens."""
    feed = setup.prepared.feed
    if not isinstance(feed, PairFeed):
        return _of_text(feed, limit)
    examples = feed.corpus(0)
    rows = largest_rows(feed, examples, limit, setup.prepared.width)
    source, target = examples.lengths
    lengths = f"{int(target[rows].max())} tokens"
    if source[rows].any():
        lengths = f"{int(source[rows].max())} and {lengths}"
    words = f"{len(rows):,} {find_task(setup.settings.task).wording.examples} of up to {lengths}"
    return LargestBatch(len(rows), lambda count: examples.batch(rows[:count]), words, int((source + target).max()))


def largest_rows(feed: PairFeed, examples: Examples, limit: int, width: int) -> Rows:
    """Return the rows of the micro-batch of the first epoch that needs the most memory."""
    lengths = examples.lengths
    parts = [part for update in feed.plan(examples, 0) for part in micro_batches(update, *lengths, limit)]

    def size(rows: Rows) -> float:
        source, target = (int(side[rows].max()) for side in lengths)
        # Attention weights grow with the square of the length where no fused kernel avoids them.
        return len(rows) * (source + target + (source**2 + target**2 + source * target) / width)

    return max(parts, key=size)


def _of_text(feed: Any, limit: int) -> LargestBatch:
    """Return a micro-batch of running text, all of which have the same size."""
    tokens, window = (_largest(feed, each).tokens.numel() for each in (limit, 1))
    part = lambda rows: _largest(feed, rows * window)
    return LargestBatch(max(1, tokens // window), part, f"{tokens:,} tokens", window)


def _largest(feed: Any, limit: int) -> Any:
    """Return the largest micro-batch of an early update and of a late one, for a limit in tokens."""
    other = copy.copy(feed)
    other.limit = limit
    updates = [next(other.updates(Position(epoch, 0))) for epoch in (0, LATER)]
    return max(
        (batch for update in updates for batch in update.micro_batches), key=lambda batch: batch.tokens.numel()
    )
