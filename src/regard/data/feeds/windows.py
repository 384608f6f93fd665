"""Windows of a long stream of ids: drawn for training from (seed, epoch) alone, and slid along it to be scored."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from regard.data.corpus.corpus import Ids
from regard.data.encoding.batches import NO_LABEL, columns_to_add, on_device, rounded_up
from regard.data.feeds.feed import Update
from regard.data.feeds.sampler import Position
from regard.data.shuffle import Shuffle
from regard.errors import ConfigError, DataError


class Stream(Protocol):
    """A long row of ids, of which any stretch can be read; a `Corpus` is one."""

    def __len__(self) -> int: ...

    def read(self, begin: int, end: int) -> Ids:
        """Return the ids from `begin` to `end`."""


@dataclass(frozen=True)
class IdStream:
    """A stream that is in memory."""

    ids: Ids

    def __len__(self) -> int:
        return len(self.ids)

    def read(self, begin: int, end: int) -> Ids:
        """Return the ids from `begin` to `end`."""
        return self.ids[begin:end]


@dataclass(frozen=True)
class WindowBatch:
    """Windows of text, all of one length, and the token that follows each of theirs."""

    tokens: Tensor  # (B, T) what the model reads
    labels: Tensor  # (B, T) what comes next; NO_LABEL where nothing is to be said
    label_count: int
    """How many of the labels are one."""

    @property
    def tensors(self) -> dict[str, Tensor]:
        """All tensors by name."""
        return {"tokens": self.tokens, "labels": self.labels}

    @property
    def shape(self) -> tuple[int, ...]:
        """B and T."""
        return tuple(self.tokens.shape)

    def to(self, device: torch.device) -> "WindowBatch":
        """Return the same batch on another device."""
        moved: dict[str, Any] = {name: on_device(value, device) for name, value in self.tensors.items()}
        return replace(self, **moved)

    def padded_to_bucket(self, limit: int | None = None) -> "WindowBatch":
        """Return the same windows with all sizes rounded up, so that few different shapes occur.

        Added rows and columns have no label. No window grows past `limit` tokens, where a model has no place for
        more.
        """
        B, T = self.shape
        more = (0, columns_to_add(T, limit), 0, rounded_up(B) - B)
        return replace(self, tokens=F.pad(self.tokens, more), labels=F.pad(self.labels, more, value=NO_LABEL))


class WindowFeed:
    """Updates of windows of `length` tokens, every stretch of the stream in one of them once an epoch.

    Each epoch lays its windows from another beginning on and takes them in another order; what is too short for a
    window at either end waits for another epoch. Windows run across documents, whose end tokens tell them apart.
    """

    def __init__(self, stream: Stream, length: int, tokens: int, limit: int, seed: int) -> None:
        if len(stream) < 2:
            raise DataError(f"The text has {len(stream)} tokens, and nothing follows from that; add text.")
        self.stream = stream
        self.length = min(length, len(stream) - 1)
        """Tokens of a window; less than was asked for where the whole text is shorter."""
        self.tokens = tokens
        self.limit = limit
        self.seed = seed

    def _plan(self, epoch: int) -> tuple[int, Shuffle]:
        """Return where the first window of an epoch begins, and the order of all."""
        draw = np.random.default_rng([self.seed, epoch])
        offset = int(draw.integers(min(self.length, len(self.stream) - self.length)))
        return offset, Shuffle((len(self.stream) - 1 - offset) // self.length, draw)

    @property
    def _windows(self) -> int:
        """How many windows make an update."""
        return max(1, round(self.tokens / self.length))

    def updates_in(self, epoch: int) -> int:
        """Return how many updates an epoch has."""
        return self._cut(self._plan(epoch)[1].count)

    def _cut(self, windows: int) -> int:
        """Return how many updates some windows make: all are alike but the last, which is half as large or more."""
        return max(1, (windows + self._windows // 2) // self._windows)

    def updates(self, position: Position, rank: int = 0, world: int = 1) -> Iterator[Update]:
        """Yield the updates from `position` on, for ever."""
        while True:
            offset, order = self._plan(position.epoch)
            updates = self._cut(order.count)
            for index in range(position.index, updates):
                is_last = index + 1 == updates
                first = index * self._windows
                rows = order[np.arange(first, order.count if is_last else first + self._windows)]
                parts = self._micro_batches(rows * self.length + offset, world)
                following = Position(position.epoch + is_last, 0 if is_last else index + 1)
                divisible = max((len(part) * self.length for part in parts if len(part) > 1), default=0)
                yield Update([self._batch(part) for part in parts[rank::world]], following, divisible)
            position = Position(position.epoch + 1, 0)

    def _micro_batches(self, begins: Ids, world: int) -> list[Ids]:
        """Cut an update into parts, all alike, that stay within the limit where they can; a share for everyone."""
        parts = -(-len(begins) // max(1, self.limit // self.length))
        parts = -(-parts // world) * world
        return [part for part in np.array_split(begins, parts) if len(part)]

    def _batch(self, begins: Ids) -> WindowBatch:
        rows = np.stack([self.stream.read(begin, begin + self.length + 1) for begin in begins.tolist()])
        return _batch_of(rows, [0] * len(rows))


def slide(count: int, window: int, stride: int) -> Iterator[tuple[int, int, int]]:
    """Yield windows (begin, first, end) over so many places, in each of which those from `first` on are new.

    A window begins `stride` places after the one before, and the last where it still is whole.
    """
    size, first = min(window, count), 0
    last = count - size
    for number in range(1 + -(-last // stride) if count else 0):
        begin = min(number * stride, last)
        yield begin, first, begin + size
        first = begin + size


def sliding_windows(stream: Stream, start: int, length: int, stride: int, limit: int) -> Iterator[WindowBatch]:
    """Yield batches in which every token of the stream is a label once, read from its beginning to its end.

    A window begins `stride` tokens after the one before, and only what that one has not said is labeled: past the
    first window, a label has `length - stride` + 1 tokens before it at least. The token `start` (the end token, as
    between documents) stands before the first.
    """
    if not 1 <= stride <= length:
        raise ConfigError(f"stride: {stride} does not lie between 1 and {length}, the length of a window.")
    length = min(length, len(stream))
    windows = slide(len(stream), length, stride)
    while some := list(islice(windows, max(1, limit // length))):
        rows = np.stack([_read_after(stream, start, begin, length) for begin, _, _ in some])
        yield _batch_of(rows, [first - begin for begin, first, _ in some])


def _read_after(stream: Stream, start: int, begin: int, length: int) -> Ids:
    """Return a window's labels and, before them, what precedes them."""
    if begin:
        return stream.read(begin - 1, begin + length)
    return np.concatenate([np.array([start], np.int64), stream.read(0, length)])


def _batch_of(rows: Ids, skipped: Sequence[int]) -> WindowBatch:
    """Return rows (B, T + 1) as what is read and what follows, without the first labels of each row."""
    has_label = np.arange(rows.shape[1] - 1) >= np.asarray(skipped)[:, None]  # (B, T)
    labels = np.where(has_label, rows[:, 1:], NO_LABEL)
    tokens = np.ascontiguousarray(rows[:, :-1])
    return WindowBatch(torch.from_numpy(tokens), torch.from_numpy(labels), int(has_label.sum()))
