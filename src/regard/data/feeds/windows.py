"""Windows of a stream of ids: shuffled by (seed, epoch) for training, sliding for evaluation."""

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
from regard.data.feeds.feed import Update, share_of
from regard.data.feeds.sampler import Position
from regard.data.shuffle import Shuffle
from regard.errors import ConfigError, DataError


class Stream(Protocol):
    """A sequence of ids with random access, such as a `Corpus`."""

    def __len__(self) -> int: ...

    def read(self, begin: int, end: int) -> Ids:
        """Return the ids from `begin` to `end`."""


@dataclass(frozen=True)
class IdStream:
    """A stream in memory."""

    ids: Ids

    def __len__(self) -> int:
        return len(self.ids)

    def read(self, begin: int, end: int) -> Ids:
        """Return the ids from `begin` to `end`."""
        return self.ids[begin:end]


@dataclass(frozen=True)
class WindowBatch:
    """Windows of text of equal length, and the next token of each position."""

    tokens: Tensor  # (B, T) input ids
    labels: Tensor  # (B, T) next ids; NO_LABEL where there is no label
    label_count: int
    """The number of labels that are not NO_LABEL."""

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

        Added rows and columns have no label. No window grows past `limit` tokens, the maximum of the model.
        """
        B, T = self.shape
        more = (0, columns_to_add(T, limit), 0, rounded_up(B) - B)
        return replace(self, tokens=F.pad(self.tokens, more), labels=F.pad(self.labels, more, value=NO_LABEL))


class WindowFeed:
    """Updates of windows of `length` tokens, which cover the stream once an epoch.

    Each epoch has another offset and order of its windows; the ends of the stream, too short for a window, are left
    out of that epoch. Windows cross documents, which EOS separates.
    """

    def __init__(self, stream: Stream, length: int, tokens: int, limit: int, seed: int) -> None:
        if len(stream) < 2:
            raise DataError(f"The text has {len(stream)} tokens, too few for a next token; add text.")
        self.stream = stream
        self.length = min(length, len(stream) - 1)
        """Window length in tokens; less than requested if the text is shorter."""
        self.tokens = tokens
        self.limit = limit
        self.seed = seed

    def _plan(self, epoch: int) -> tuple[int, Shuffle]:
        """Return the offset of an epoch's first window, and the order of all windows."""
        draw = np.random.default_rng([self.seed, epoch])
        offset = int(draw.integers(min(self.length, len(self.stream) - self.length)))
        return offset, Shuffle((len(self.stream) - 1 - offset) // self.length, draw)

    @property
    def _windows(self) -> int:
        """The number of windows in an update."""
        return max(1, round(self.tokens / self.length))

    def updates_in(self, epoch: int) -> int:
        """Return the number of updates in an epoch."""
        return self._cut(self._plan(epoch)[1].count)

    def _cut(self, windows: int) -> int:
        """Return the number of updates of some windows: equal ones, the last 0.5 to 1.5 times as large."""
        return max(1, (windows + self._windows // 2) // self._windows)

    def updates(self, position: Position, rank: int = 0, world: int = 1) -> Iterator[Update]:
        """Yield the updates from `position` on, without end."""
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
                own, filler = share_of(parts, rank, world, self._batch)
                yield Update(own, following, divisible, filler=filler)
            position = Position(position.epoch + 1, 0)

    def _micro_batches(self, begins: Ids, world: int) -> list[Ids]:
        """Cut an update into equal parts within the limit where possible, a multiple of `world` of them."""
        parts = -(-len(begins) // max(1, self.limit // self.length))
        parts = -(-parts // world) * world
        return [part for part in np.array_split(begins, parts) if len(part)]

    def _batch(self, begins: Ids) -> WindowBatch:
        rows = np.stack([self.stream.read(begin, begin + self.length + 1) for begin in begins.tolist()])
        return _batch_of(rows, [0] * len(rows))


def slide(count: int, window: int, stride: int) -> Iterator[tuple[int, int, int]]:
    """Yield windows (begin, first, end) over `count` positions; those from `first` on are new in each window.

    A window begins `stride` positions after the previous one; the last one is moved back so that it is full.
    """
    size, first = min(window, count), 0
    last = count - size
    for number in range(1 + -(-last // stride) if count else 0):
        begin = min(number * stride, last)
        yield begin, first, begin + size
        first = begin + size


def sliding_windows(stream: Stream, start: int, length: int, stride: int, limit: int) -> Iterator[WindowBatch]:
    """Yield batches in which every token of the stream is a label once, in order.

    A window begins `stride` tokens after the previous one, and only tokens new to it are labels: after the first
    window, a label has a context of at least `length - stride` + 1 tokens. The token `start` (EOS, as between
    documents) precedes the first.
    """
    if not 1 <= stride <= length:
        raise ConfigError(f"stride: {stride} is not between 1 and {length}, the window length.")
    length = min(length, len(stream))
    windows = slide(len(stream), length, stride)
    while some := list(islice(windows, max(1, limit // length))):
        rows = np.stack([_read_after(stream, start, begin, length) for begin, _, _ in some])
        yield _batch_of(rows, [first - begin for begin, first, _ in some])


def windows_at(stream: Stream, start: int, length: int, begins: Sequence[int]) -> WindowBatch:
    """Return the windows that begin at these positions, every token in them a label."""
    length = min(length, len(stream))
    rows = np.stack([_read_after(stream, start, min(begin, len(stream) - length), length) for begin in begins])
    return _batch_of(rows, [0] * len(rows))


def _read_after(stream: Stream, start: int, begin: int, length: int) -> Ids:
    """Return a window's labels, preceded by the token before them."""
    if begin:
        return stream.read(begin - 1, begin + length)
    return np.concatenate([np.array([start], np.int64), stream.read(0, length)])


def _batch_of(rows: Ids, skipped: Sequence[int]) -> WindowBatch:
    """Return rows (B, T + 1) as inputs and next-token labels, without the first `skipped` labels of each row."""
    has_label = np.arange(rows.shape[1] - 1) >= np.asarray(skipped)[:, None]  # (B, T)
    labels = np.where(has_label, rows[:, 1:], NO_LABEL)
    tokens = np.ascontiguousarray(rows[:, :-1])
    return WindowBatch(torch.from_numpy(tokens), torch.from_numpy(labels), int(has_label.sum()))
