"""The stream of updates a training loop consumes: sets of examples, cut into micro-batches that fit."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from regard.data.feeds.sampler import POOL, Position, Rows, micro_batches, padded_size, plan_updates


@dataclass(frozen=True)
class Update:
    """What one optimizer step learns from, and the position in the data once it has."""

    micro_batches: Sequence[Any]
    following: Position
    divisible: int = 0
    """Padded tokens of the largest micro-batch (any process') that can be cut further; 0: all hold one example."""
    tokens: int | None = None
    """Tokens it is counted by, of all processes; None: as many as have a label."""


class Feed(Protocol):
    """Anything that yields updates from a position on; a process takes every `world`-th micro-batch."""

    limit: int
    """Padded tokens of a micro-batch at most; may be lowered between updates, which must then be asked for anew."""

    def updates(self, position: Position, rank: int = 0, world: int = 1) -> Iterator[Update]:
        """Yield the updates from `position` on, for ever."""

    def updates_in(self, epoch: int) -> int:
        """Return how many updates an epoch has."""


class Examples(Protocol):
    """Examples that are in memory, each with a length on a source and on a target side."""

    @property
    def lengths(self) -> tuple[Rows, Rows]:
        """Tokens of each example on both sides."""

    def batch(self, rows: Rows) -> Any:
        """Return some of the examples as one batch."""


class PairFeed:
    """Updates of pairs or other examples; `corpus(epoch)` may encode anew for each epoch (BPE dropout).

    Examples of `pool` updates are sorted by length together. An update may be a number of examples instead of tokens.
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
        """Return how many updates an epoch has."""
        return len(self.plan(self.corpus(epoch), epoch))

    def updates(self, position: Position, rank: int = 0, world: int = 1) -> Iterator[Update]:
        """Yield the updates from `position` on, for ever."""
        while True:
            examples = self.corpus(position.epoch)
            lengths = examples.lengths
            plan = self.plan(examples, position.epoch)
            for index in range(position.index, len(plan)):
                parts = micro_batches(plan[index], *lengths, self.limit)
                if len(parts) < world:  # every process gets a share
                    parts = [part for part in np.array_split(np.concatenate(parts), world) if len(part)]
                is_last = index + 1 == len(plan)
                following = Position(position.epoch + is_last, 0 if is_last else index + 1)
                divisible = max((padded_size(part, *lengths) for part in parts if len(part) > 1), default=0)
                tokens = int(lengths[1][plan[index]].sum()) if self.counts_examples else None
                yield Update([examples.batch(part) for part in parts[rank::world]], following, divisible, tokens)
            position = Position(position.epoch + 1, 0)
