"""Masked language model batches: packed without padding, a pure function of (seed, epoch, window)."""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from itertools import count, pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from regard.data.corpus.corpus import Ids
from regard.data.counter_rng import key_of, keys_at
from regard.data.encoding.batches import NO_LABEL, on_device, rounded_up
from regard.data.encoding.inputs import VarlenInputs
from regard.data.feeds.feed import Update, share_of
from regard.data.feeds.masking import Masked, Masker
from regard.data.feeds.sampler import Position
from regard.data.feeds.sentence_pairs import SentencePairSampler
from regard.data.shuffle import Shuffle
from regard.errors import DataError

EVALUATION = key_of(0x6D61736B)
"""The key of masks and pairs in evaluation, independent of the training seed."""


@dataclass(frozen=True)
class MlmBatch:
    """Concatenated sequences with some tokens to predict."""

    tokens: Tensor  # (N,)
    segments: Tensor  # (N,)
    positions: Tensor  # (N,)
    cu_seqlens: Tensor  # (R + 1,) int32: where each sequence begins, and where the last ends
    label_positions: Tensor  # (M,) positions to predict
    labels: Tensor  # (M,) ids at these positions
    is_next: Tensor  # (R,) 0: the second text follows the first; 1: it does not; NO_LABEL: there is none
    max_seqlen: int
    """No sequence is longer."""
    label_count: int
    pair_count: int

    @property
    def tensors(self) -> dict[str, Tensor]:
        """All tensors by name."""
        return {each.name: value for each in fields(self) if isinstance(value := getattr(self, each.name), Tensor)}

    @property
    def shape(self) -> tuple[int, ...]:
        """N, R, M and max_seqlen."""
        return self.tokens.numel(), self.is_next.numel(), self.labels.numel(), self.max_seqlen

    def to(self, device: torch.device) -> "MlmBatch":
        """Return the same batch on another device."""
        moved: dict[str, Any] = {name: on_device(value, device) for name, value in self.tensors.items()}
        return replace(self, **moved)

    def padded_to_bucket(self, limit: int | None = None) -> "MlmBatch":
        """Return the same sequences with all sizes rounded up, by sequences of padding without labels.

        None is longer than `limit` tokens, the maximum of the model.
        """
        padded = VarlenInputs(
            self.tokens, self.segments, self.positions, self.cu_seqlens, self.max_seqlen
        ).padded_to_bucket(limit)
        _, R, M, _ = self.shape
        more = rounded_up(M) - M
        grown: dict[str, Any] = {**padded.tensors, "max_seqlen": padded.max_seqlen}
        return replace(
            self,
            **grown,
            label_positions=F.pad(self.label_positions, (0, more)),
            labels=F.pad(self.labels, (0, more), value=NO_LABEL),
            is_next=F.pad(self.is_next, (0, padded.cu_seqlens.numel() - 1 - R), value=NO_LABEL),
        )


def packed_batch(masked: Masked, first: int, last: int) -> MlmBatch:
    """Return the sequences from `first` to `last` (exclusive) as one batch."""
    rows = masked.rows
    begin, end = int(rows.cu_seqlens[first]), int(rows.cu_seqlens[last])
    some = slice(*np.searchsorted(masked.positions, [begin, end]).tolist())
    is_next = rows.is_next[first:last]
    tensor = lambda array: torch.from_numpy(np.ascontiguousarray(array))
    return MlmBatch(
        tokens=tensor(masked.tokens[begin:end]),
        segments=tensor(rows.segments[begin:end]),
        positions=tensor(rows.positions[begin:end]),
        cu_seqlens=tensor((rows.cu_seqlens[first : last + 1] - begin).astype(np.int32)),
        label_positions=tensor(masked.positions[some] - begin),
        labels=tensor(masked.labels[some]),
        is_next=tensor(is_next),
        max_seqlen=int(np.diff(rows.cu_seqlens[first : last + 1]).max()),
        label_count=some.stop - some.start,
        pair_count=int((is_next != NO_LABEL).sum()),
    )


@dataclass(frozen=True)
class Stage:
    """A phase of training: its sequences, and its number of updates (None: to the end)."""

    pairs: SentencePairSampler
    updates: int | None = None


class MaskedFeed:
    """Updates of masked sequences; every sentence begins in one of an epoch's windows.

    Each epoch has another offset and order of its windows, and the sequences of a window are a pure function of its
    number, the epoch and the seed: resuming at a position replays nothing. A stage that ends within an epoch ends
    that epoch. With `workers`, that many threads prefetch updates.
    """

    def __init__(
        self, stages: Sequence[Stage], masker: Masker, tokens: int, limit: int, seed: int, workers: int = 0
    ) -> None:
        self.stages, self.masker = stages, masker
        self.tokens, self.limit, self.seed, self.workers = tokens, limit, seed, workers
        self._last_epochs = list(self._ends())

    def _ends(self) -> Iterator[tuple[int, int]]:
        """Yield (last epoch, its number of updates) of each stage that ends."""
        epoch = 0
        for stage in self.stages[:-1]:
            left = stage.updates or 0
            if not left:
                yield epoch - 1, 0
                continue
            while (updates := self._cut(stage, self._plan(stage, epoch)[1].count)) < left:
                left, epoch = left - updates, epoch + 1
            yield epoch, left
            epoch += 1

    def _stage(self, epoch: int) -> Stage:
        passed = sum(epoch > last for last, _ in self._last_epochs)
        return self.stages[passed]

    def _plan(self, stage: Stage, epoch: int) -> tuple[int, Shuffle]:
        """Return the tokens of an epoch's first window that lie before the text, and the order of all windows."""
        draw = np.random.default_rng([self.seed, epoch])
        offset, window = int(draw.integers(stage.pairs.window)), stage.pairs.window
        return offset, Shuffle(-(-(len(stage.pairs.corpus) + offset) // window), draw)

    def _windows(self, stage: Stage) -> int:
        """Return the number of windows in an update."""
        return max(1, round(self.tokens / stage.pairs.tokens_in_window))

    def _cut(self, stage: Stage, windows: int) -> int:
        """Return the number of updates of some windows: equal ones, the last 0.5 to 1.5 times as large."""
        size = self._windows(stage)
        return max(1, (windows + size // 2) // size)

    def updates_in(self, epoch: int) -> int:
        """Return the number of updates in an epoch."""
        stage = self._stage(epoch)
        return dict(self._last_epochs).get(epoch) or self._cut(stage, self._plan(stage, epoch)[1].count)

    def updates(self, position: Position, rank: int = 0, world: int = 1) -> Iterator[Update]:
        """Yield the updates from `position` on, without end."""
        positions = self._positions(position)
        if not self.workers:
            yield from (self._update(each, rank, world) for each in positions)
        pool = ThreadPoolExecutor(self.workers, "masked")
        try:
            pending = deque(pool.submit(self._update, next(positions), rank, world) for _ in range(self.workers + 1))
            for each in positions:
                yield pending.popleft().result()
                pending.append(pool.submit(self._update, each, rank, world))
        finally:
            pool.shutdown(cancel_futures=True)

    def _positions(self, position: Position) -> Iterator[Position]:
        first = position.index
        for epoch in count(position.epoch):
            for index in range(first, self.updates_in(epoch)):
                yield Position(epoch, index)
            first = 0

    def _update(self, position: Position, rank: int, world: int) -> Update:
        epoch, index = position.epoch, position.index
        stage = self._stage(epoch)
        offset, order = self._plan(stage, epoch)
        size, is_last = self._windows(stage), index + 1 == self.updates_in(epoch)
        is_rest = index + 1 == self._cut(stage, order.count)
        masked = self._masked(
            stage, epoch, offset, order, index * size, order.count if is_rest else (index + 1) * size
        )
        parts = self._micro_batches(masked.rows.cu_seqlens, world)
        following = Position(epoch + is_last, 0 if is_last else index + 1)
        bounds = masked.rows.cu_seqlens
        divisible = max((int(bounds[last] - bounds[first]) for first, last in parts if last - first > 1), default=0)
        own, filler = share_of(parts, rank, world, lambda part: packed_batch(masked, *part))
        return Update(own, following, divisible, int(bounds[-1]), filler)

    def _masked(self, stage: Stage, epoch: int, offset: int, order: Shuffle, first: int, last: int) -> Masked:
        """Return the masked sequences of some windows; if they have no label, those of the next window that has one.

        In a text without any label, the last sequences are returned.
        """
        key, end = key_of(self.seed, epoch, 1), last + order.count
        masked: Masked | None = None
        while last <= end:
            windows = order[np.arange(first, last) % order.count]
            rows = stage.pairs.rows(windows * stage.pairs.window - offset, keys_at(key, windows))
            if len(rows.keys):
                longest_first = np.argsort(-np.diff(rows.cu_seqlens), kind="stable")
                masked = self.masker(rows.select(longest_first))
                if len(masked.positions) or (rows.is_next != NO_LABEL).any():
                    return masked
            first, last = last, last + 1
        if masked is None:
            raise DataError("The text has no sentence to learn from; add text.")
        return masked

    def _micro_batches(self, bounds: Ids, world: int) -> list[tuple[int, int]]:
        """Cut sequences into about equal parts within the limit where possible, a multiple of `world` of them."""
        return cut_rows(np.diff(bounds), self.limit, world)


def cut_rows(sizes: Ids, limit: int, world: int = 1) -> list[tuple[int, int]]:
    """Return (first, last + 1) of consecutive parts of rows, within a limit of tokens where possible."""
    total = np.cumsum(sizes)
    middles, wanted = total - sizes / 2, -(-int(total[-1]) // limit)
    wanted = -(-wanted // world) * world
    while True:
        cuts = np.searchsorted(middles, np.arange(1, wanted) * (total[-1] / wanted))
        bounds = np.unique([0, *cuts.tolist(), len(sizes)])
        inside = np.add.reduceat(sizes, bounds[:-1])
        if wanted >= len(sizes) or ((inside <= limit) | (np.diff(bounds) == 1)).all():
            return list(pairwise(bounds.tolist()))
        wanted += world


def fixed_batches(
    pairs: SentencePairSampler,
    masker: Masker,
    limit: int,
    count: int | None = None,
    windows: Ids | None = None,
) -> Iterator[MlmBatch]:
    """Yield batches of a corpus (its first `count` tokens, or some windows), in order, with fixed pairs and masks."""
    corpus, window = pairs.corpus, pairs.window
    if windows is None:
        windows = np.arange(-(-min(len(corpus), count or len(corpus)) // window))
    size = max(1, limit // pairs.length)
    for first in range(0, len(windows), size):
        some = windows[first : first + size]
        rows = pairs.rows(some * window, keys_at(EVALUATION, some))
        if not len(rows.keys):
            continue
        masked = masker(rows)
        for part in cut_rows(np.diff(rows.cu_seqlens), limit):
            yield packed_batch(masked, *part)


def has_masked_tokens(pairs: SentencePairSampler, masker: Masker) -> bool:
    """Return whether any token of a corpus is masked; none is if all are unknown or there is no sentence."""
    return any(batch.label_count for batch in fixed_batches(pairs, masker, pairs.length))
