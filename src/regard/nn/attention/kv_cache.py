"""Keys and values of the steps already decoded, kept so that a step costs one position and not all."""

from typing import Protocol

from torch import Tensor


class Cache(Protocol):
    """Keys and values of one attention layer."""

    def append(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values (B, H, T, K) of new positions and return those of all (B, H, S, K)."""


class KeyValueCache:
    """Keys and values (B, H, S, K) of one attention layer; `append` updates it in place.

    The hypotheses of a sentence write side by side into one row, so going on with other hypotheses moves nothing:
    who sees which of the S slots is a mask (`nn.masks.branch_mask`). Room is doubled when it runs out, so a step
    copies one position, and not the whole past.
    """

    def __init__(self) -> None:
        self._keys: Tensor | None = None  # (B, H, S, K)
        self._values: Tensor | None = None
        self.length = 0

    @property
    def sentences(self) -> int:
        """How many rows it holds: one a sentence."""
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
        room = like.new_empty(B, H, max(16, 2 * needed), K)
        if old is not None:
            room[:, :, : self.length] = old[:, :, : self.length]
        return room

    def all(self) -> tuple[Tensor, Tensor]:
        """Return the keys and values (B, H, S, K) of all positions."""
        assert self._keys is not None and self._values is not None, "nothing was appended"
        return self._keys[:, :, : self.length], self._values[:, :, : self.length]

    def select(self, sentences: Tensor) -> "KeyValueCache":
        """Return the cache of some sentences, in the order given; they may repeat or be missing (finished)."""
        chosen = KeyValueCache()
        chosen.length = self.length
        if self._keys is not None and self._values is not None:
            chosen._keys, chosen._values = (self._selected(each, sentences) for each in (self._keys, self._values))
        return chosen

    def _selected(self, x: Tensor, sentences: Tensor) -> Tensor:
        """Return some sentences with the same room; only what is filled is copied, and only once."""
        room = x.new_empty(sentences.numel(), *x.shape[1:])
        room[:, :, : self.length] = x[:, :, : self.length].index_select(0, sentences)
        return room
