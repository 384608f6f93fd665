"""Key/value cache: keys and values of decoded positions are kept, so that a step computes one position only."""

from typing import Protocol

import torch
from torch import Tensor

FEWEST_SLOTS = 16
"""Slots that a cache has room for at first."""


class Cache(Protocol):
    """Keys and values of one attention layer."""

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values (B, H, T, K) of new positions and return those of all (B, H, S, K)."""


class KeyValueCache:
    """Keys and values (B, H, S, K) of one attention layer, in a buffer with room for further rows and slots.

    The hypotheses of a sentence share one row, so reordering hypotheses copies nothing: a mask selects the slots of
    each (`nn.attention.masks.branch_mask`). Rows join where there is room, a row that leaves is overwritten by
    another one, and room is doubled when it is exceeded: a step copies one position, and not the whole past.
    """

    def __init__(self) -> None:
        self._buffer: Tensor | None = None  # (2, rows, H, slots, K) keys and values; never NaN where nothing is
        self._parts: tuple[Tensor, ...] = ()  # keys and values, each (rows, H, slots, K): views of the buffer
        self._begin = 0
        self.sentences = 0
        """The number of rows: one per sentence."""
        self.length = 0
        """The number of slots."""

    @property
    def _window(self) -> Tensor:
        """The slots (2, rows, H, S, K) in use, of all rows that there is room for."""
        assert self._buffer is not None, "nothing was appended"
        return self._buffer[:, :, :, self._begin : self._begin + self.length]

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values (B, H, T, K) of new positions and return those of all (B, H, S, K)."""
        self.sentences, added = keys.size(0), keys.size(2)
        self._reserve(keys, self.sentences, after=added)
        self.length += added
        end = self._begin + self.length
        for part, newest in zip(self._parts, (keys, values)):
            part[: self.sentences, :, end - added : end] = newest
        return self.all()

    def _reserve(self, like: Tensor, rows: int, before: int = 0, after: int = 0) -> None:
        """Have room for so many rows, and for slots before and after those in use."""
        slots, old = self.length + before + after, self._buffer
        room = (0, 0) if old is None else (old.size(1), old.size(3) - self._begin - self.length)
        if rows <= room[0] and before <= self._begin and after <= room[1]:
            return
        _, H, _, K = like.shape
        rows_in_all = rows if old is None else 2 * rows if rows > room[0] else min(room[0], 2 * rows)
        self._buffer = like.new_zeros(2, rows_in_all, H, max(FEWEST_SLOTS, 2 * slots), K)
        if old is not None:
            kept = min(rows, room[0])
            window = old[:, :kept, :, self._begin : self._begin + self.length]
            self._buffer[:, :kept, :, before : before + self.length] = window
        self._begin, self._parts = (
            before,
            (self._buffer[0], self._buffer[1]),
        )  # not unbind: its views refuse gradients

    def all(self) -> tuple[Tensor, Tensor]:
        """Return the keys and values (B, H, S, K) of all positions."""
        (keys, values), begin, end = self._parts, self._begin, self._begin + self.length
        return keys[: self.sentences, :, begin:end], values[: self.sentences, :, begin:end]

    def select(self, sentences: Tensor) -> "KeyValueCache":
        """Return a copy with these sentences, in this order; sentences may repeat or be dropped (finished)."""
        selected = KeyValueCache()
        if self._buffer is not None:
            selected._reserve(self.all()[0], sentences.numel(), after=self.length)
            selected.length, selected.sentences = self.length, sentences.numel()
            selected._window.copy_(self._window.index_select(1, sentences))
        return selected

    def move(self, rows: int, targets: Tensor, sources: Tensor) -> None:
        """Keep so many rows, of which the targets become copies of sources further below, in place."""
        if targets.numel():
            self._window.index_copy_(1, targets, self._window[:, sources])
        self.sentences = rows

    def join(self, keys: Tensor, values: Tensor, is_left: bool) -> None:
        """Add rows with keys and values (B, H, S, K), last slots aligned or first ones; the rest is padded."""
        slots, rows = keys.size(2), self.sentences + keys.size(0)
        lacking = max(0, slots - self.length)
        before, after = (lacking, 0) if is_left else (0, lacking)
        self._reserve(keys, rows, before, after)
        self._begin, self.length = self._begin - before, self.length + lacking
        added = self._window[:, self.sentences : rows]
        padding = self.length - slots
        first, last = added.split((padding, slots) if is_left else (slots, padding), dim=3)
        (first if is_left else last).zero_()
        place = last if is_left else first
        place[0], place[1] = keys, values
        self.sentences = rows

    def trim(self, before: int = 0, after: int = 0) -> None:
        """Drop slots at the beginning and at the end."""
        self._begin, self.length = self._begin + before, self.length - before - after

    def gather(self, slots: Tensor) -> None:
        """Keep these slots (B, S) of each row alone, in place."""
        assert self._buffer is not None, "nothing was appended"
        _, rows, H, room, K = self._buffer.shape
        first = torch.arange(2 * rows * H, device=slots.device).view(2, rows, H, 1)[:, : self.sentences] * room
        chosen = first + (slots + self._begin)[:, None]  # (2, B, H, S)
        kept = self._buffer.view(-1, K).index_select(0, chosen.flatten()).view(*chosen.shape, K)
        self._begin, self.length = 0, slots.size(1)
        self._window[:, : self.sentences] = kept
