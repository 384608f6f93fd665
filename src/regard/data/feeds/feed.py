"""Feeds of the training loop: streams of updates, each cut into micro-batches that fit in memory."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar

import numpy as np
import torch

from regard.data.feeds.sampler import POOL, Position, Rows, micro_batches, padded_size, plan_updates

P = TypeVar("P")
B = TypeVar("B")


class Batch(Protocol):
    """The data of one pass over a model."""

    def to(self, device: torch.device) -> Self:
        """Return the batch on a device."""


@dataclass(frozen=True)
class Update:
    """The data of one optimizer step, and the position after it."""

    micro_batches: Sequence[Any]
    following: Position
    divisible: int = 0
    """Padded tokens of the largest micro-batch (of any process) that can be cut further; 0: all have one example."""
    tokens: int | None = None
    """Tokens of the update, over all processes; None: the number of labels."""
    filler: Batch | None = None
    """A micro-batch of another process, where this one has one less: computed for nothing, so that all take as many
    passes over the model."""


def share_of(parts: Sequence[P], rank: int, world: int, batch: Callable[[P], B]) -> tuple[list[B], B | None]:
    """Return the batches of every `world`-th part, and the filler of a process that has one part less than others."""
    own = [batch(part) for part in parts[rank::world]]
    is_short = len(own) < -(-len(parts) // world)
    return own, batch(parts[0]) if is_short else None


class Feed(Protocol):
    """A stream of updates from a position on; a process takes every `world`-th micro-batch."""

    limit: int
    """Maximum padded tokens of a micro-batch; may be lowered between updates, then `updates` is called again."""

    def updates(self, position: Position, rank: int = 0, world: int = 1) -> Iterator[Update]:
        """Yield the updates from `position` on, without end."""

    def updates_in(self, epoch: int) -> int:
        """Return the number of updates in an epoch."""


class Examples(Protocol):
    """Examples in memory, each with a source and a target length."""

    @property
    def lengths(self) -> tuple[Rows, Rows]:
        """Source and target lengths of each example in tokens."""

    def batch(self, rows: Rows) -> Any:
        """Return some of the examples as one batch."""


class PairFeed:
    """Updates of pairs or other examples; `corpus(epoch)` may encode again in each epoch (BPE dropout).

    Examples of `pool` updates are sorted by length together. With `counts_examples`, an update has `tokens` examples.
    """

    def __init__(
        self,
        corpus: Callable[[int], Examples],
        tokens: int,
        limit: int,
        seed: int,
        pool: int = POOL,
        counts_examples: bool = False,
    ) -> None:
        self.corpus = corpus
        self.tokens = tokens
        self.limit = limit
        self.seed = seed
        self.pool = pool
        self.counts_examples = counts_examples

    def plan(self, examples: Examples, epoch: int) -> list[Rows]:
        """Return the rows of each update of an epoch."""
        lengths = examples.lengths
        sizes = np.ones_like(lengths[1]) if self.counts_examples else None
        return plan_updates(*lengths, self.tokens, self.seed, epoch, self.pool, sizes)

    def updates_in(self, epoch: int) -> int:
        """Return the number of updates in an epoch."""
        return len(self.plan(self.corpus(epoch), epoch))

    def updates(self, position: Position, rank: int = 0, world: int = 1) -> Iterator[Update]:
        """Yield the updates from `position` on, without end."""
        while True:
            examples = self.corpus(position.epoch)
            lengths = examples.lengths
            plan = self.plan(examples, position.epoch)
            for index in range(position.index, len(plan)):
                parts = micro_batches(plan[index], *lengths, self.limit)
                if len(parts) < world:  # at least one part per process
                    parts = [part for part in np.array_split(np.concatenate(parts), world) if len(part)]
                is_last = index + 1 == len(plan)
                following = Position(position.epoch + is_last, 0 if is_last else index + 1)
                divisible = max((padded_size(part, *lengths) for part in parts if len(part) > 1), default=0)
                tokens = int(lengths[1][plan[index]].sum()) if self.counts_examples else None
                own, filler = share_of(parts, rank, world, examples.batch)
                yield Update(own, following, divisible, tokens, filler)
            position = Position(position.epoch + 1, 0)
