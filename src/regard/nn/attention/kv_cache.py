"""Key/value cache: keys and values of decoded positions are kept, so that a step computes one position only."""

from typing import Protocol

import torch
from torch import Tensor
from torch.nn import functional as F


class Cache(Protocol):
    """Keys and values of one attention layer."""

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values (B, H, T, K) of new positions and return those of all (B, H, S, K)."""


class KeyValueCache:
    """Keys and values (B, H, S, K) of one attention layer; `append` updates it in place.

    The hypotheses of a sentence share one row, so reordering hypotheses copies nothing: a mask selects the slots of
    each (`nn.attention.masks.branch_mask`). The capacity is doubled when it is exceeded, so that a step copies one
    position, and not the whole past.
    """

    def __init__(self) -> None:
        self._keys: Tensor | None = None  # (B, H, S, K)
        self._values: Tensor | None = None
        self.length = 0

    @property
    def sentences(self) -> int:
        """The number of rows: one per sentence."""
        return 0 if self._keys is None else self._keys.size(0)

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values (B, H, T, K) of new positions and return those of all (B, H, S, K)."""
        needed = self.length + keys.size(2)
        if self._keys is None or self._values is None or needed > self._keys.size(2):
            self._keys = self._grown(self._keys, keys, needed)
            self._values = self._grown(self._values, values, needed)
        self._keys[:, :, self.length : needed] = keys
        self._values[:, :, self.length : needed] = values
        self.length = needed
        return self.all()

    def _grown(self, old: Tensor | None, like: Tensor, needed: int) -> Tensor:
        B, H, _, K = like.shape
        buffer = like.new_empty(B, H, max(16, 2 * needed), K)
        if old is not None:
            buffer[:, :, : self.length] = old[:, :, : self.length]
        return buffer

    def all(self) -> tuple[Tensor, Tensor]:
        """Return the keys and values (B, H, S, K) of all positions."""
        assert self._keys is not None and self._values is not None, "nothing was appended"
        return self._keys[:, :, : self.length], self._values[:, :, : self.length]

    def select(self, sentences: Tensor) -> "KeyValueCache":
        """Return the cache of these sentences, in this order; sentences may repeat or be dropped (finished)."""
        selected = KeyValueCache()
        selected.length = self.length
        if self._keys is not None and self._values is not None:
            selected._keys, selected._values = (
                self._selected(each, sentences) for each in (self._keys, self._values)
            )
        return selected

    def join(self, other: "KeyValueCache", slots: int) -> "KeyValueCache":
        """Return the newest slots of these rows and then those of another cache; the last of both are aligned."""
        together = KeyValueCache()
        together.length = slots
        together._keys, together._values = (
            torch.cat([_newest(each, slots) for each in both]) for both in zip(self.all(), other.all(), strict=True)
        )
        return together

    def _selected(self, x: Tensor, sentences: Tensor) -> Tensor:
        """Return the rows of these sentences with the same capacity; only filled slots are copied, once."""
        buffer = x.new_empty(sentences.numel(), *x.shape[1:])
        buffer[:, :, : self.length] = x[:, :, : self.length].index_select(0, sentences)
        return buffer


def _newest(x: Tensor, slots: int) -> Tensor:
    """Return the newest slots of keys or values (B, H, S, K); zeros stand for those that do not exist."""
    return F.pad(x[:, :, max(0, x.size(2) - slots) :], (0, 0, max(0, slots - x.size(2)), 0))
