"""What a GPT has read, in places that never move, so that one recording serves every step."""

from typing import Any

import torch
from torch import Tensor

from regard.models.transformer.fused_step import can_fuse, feed_forward, linear, look_back
from regard.models.transformer.state import TransformerState
from regard.models.transformer.static_cache import FixedCache
from regard.nn.attention.attention import View
from regard.nn.attention.masks import as_bias


class FixedGpt:
    """The past of up to `rows` texts in `slots` places each; every change is made in place."""

    def __init__(self, model: Any, rows: int, slots: int) -> None:
        settings, like = model.settings, model.head.weight.detach()
        shape = rows, settings.groups, slots, settings.width_of_head
        counter = lambda *size: torch.zeros(size, dtype=torch.long, device=like.device)
        self.model = model
        self.rows, self.slots = rows, slots
        self.place = counter(1)  # where the next token goes, in all rows alike
        self.next = counter(rows, 1)  # the position of the next token of each row
        self.positions = counter(rows, slots)
        self.seen = torch.zeros(rows, slots, dtype=torch.bool, device=like.device)
        # Slots nobody has written to are masked out, but even so must hold numbers.
        self.caches = [FixedCache(like.new_zeros(shape), like.new_zeros(shape), self.place) for _ in model.blocks]
        self.is_fused = can_fuse(settings, like, rows)

    @property
    def size(self) -> int:
        """Bytes held."""
        return sum(each.nbytes for cache in self.caches for each in (cache.keys, cache.values))

    def load(self, state: TransformerState, rows: Tensor) -> int:
        """Take over what was read, row by row the past of one of its texts (R,), and return how many slots it takes.

        What was read branches only here: texts with several continuations have not been continued yet.
        """
        used, count = state.caches[0].length, len(rows)
        for fixed, cache in zip(self.caches, state.caches, strict=True):
            keys, values = cache.all()
            fixed.keys[:count, :, :used], fixed.values[:count, :, :used] = keys[rows], values[rows]
        padding = torch.zeros_like(rows) if state.padding is None else state.padding[rows]  # (R,)
        places = torch.arange(self.slots, device=rows.device)
        self.place.fill_(used)
        self.next.fill_(used)
        self.next[:count, 0] -= padding
        self.positions.copy_(places)
        self.positions[:count] -= padding[:, None]
        self.positions.clamp_min_(0)
        self.seen.copy_(places < used)
        self.seen[:count] &= places >= padding[:, None]
        return used

    def take(self, other: "FixedGpt", used: int) -> None:
        """Go on from what another one, with less room, has read."""
        for mine, theirs in zip(self.caches, other.caches, strict=True):
            mine.keys[:, :, :used], mine.values[:, :, :used] = theirs.keys[:, :, :used], theirs.values[:, :, :used]
        self.place.copy_(other.place)
        self.next.copy_(other.next)
        self.seen.zero_()
        self.seen[:, :used] = other.seen[:, :used]
        self.positions[:, :used] = other.positions[:, :used]

    def step(self, tokens: Tensor) -> Tensor:
        """Return the logits (R, V) after one more token (R,) of each row, in place."""
        scheme, like = self.model.embedding.positions, self.model.head.weight
        self.seen.index_fill_(1, self.place, True)
        self.positions.index_copy_(1, self.place, self.next)
        looks = as_bias(self.seen[:, None, None], like.dtype)  # (R, 1, 1, slots)
        bias, rotation = scheme.bias(self.next, self.positions), scheme.rotation(self.next)
        view = View(bias=looks if bias is None else looks + bias, rotation=rotation)
        x = self.model.embedding(tokens[:, None], self.next)  # (R, 1, D)
        logits = self._rows(x[:, 0].contiguous(), view) if self.is_fused else self._blocks(x, view)
        self.place += 1
        self.next += 1
        return logits

    def _blocks(self, x: Tensor, view: View) -> Tensor:
        for block, cache in zip(self.model.blocks, self.caches, strict=True):
            x = block(x, view, cache)
        return torch.as_tensor(self.model.project(self.model.finish(x)[:, 0])).float()

    def _rows(self, x: Tensor, view: View) -> Tensor:
        """Return the logits as the blocks compute them, in few kernels."""
        used = self.place + 1
        for block, cache in zip(self.model.blocks, self.caches, strict=True):
            x = feed_forward(block, look_back(block, x, view, cache, used))
        return linear(x, self.model.head, norm=self.model.norm, is_wide=True)
