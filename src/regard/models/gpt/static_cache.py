"""Static key-value cache of a GPT: buffers at fixed addresses, so that one CUDA graph serves every step."""

from typing import Any

import torch
from torch import Tensor

from regard.models.transformer.fused_step import can_fuse, feed_forward, linear, self_attention
from regard.models.transformer.state import TransformerState
from regard.models.transformer.static_cache import StaticKeyValueCache
from regard.nn.attention.attention import View
from regard.nn.attention.kv_cache import KeyValueCache
from regard.nn.attention.masks import as_bias


class StaticGptState:
    """The cached keys and values of up to `rows` texts with `slots` tokens each; all updates are in place."""

    def __init__(self, model: Any, rows: int, slots: int) -> None:
        settings, like = model.settings, model.head.weight.detach()
        shape = rows, settings.groups, slots, settings.width_of_head
        counter = lambda *size: torch.zeros(size, dtype=torch.long, device=like.device)
        self.model = model
        self.rows, self.slots = rows, slots
        self.write_slot = counter(1)  # the slot of the next token, the same in all rows
        self.next = counter(rows, 1)  # the position of the next token of each row
        self.positions = counter(rows, slots)
        self.seen = torch.zeros(rows, slots, dtype=torch.bool, device=like.device)
        # Unused slots are masked, but must not hold NaN.
        self.caches = [
            StaticKeyValueCache(like.new_zeros(shape), like.new_zeros(shape), self.write_slot) for _ in model.blocks
        ]
        self.is_fused = can_fuse(settings, like, rows)

    @property
    def size(self) -> int:
        """Bytes held by keys and values."""
        return sum(each.nbytes for cache in self.caches for each in (cache.keys, cache.values))

    def load(self, state: TransformerState, rows: Tensor) -> int:
        """Copy in the cached state of texts `rows` (R,), one for each row; return the number of used slots.

        Texts branch into several continuations here alone, so that the loaded state has not branched yet.
        """
        used, count = state.caches[0].length, len(rows)
        for static, cache in zip(self.caches, state.caches, strict=True):
            keys, values = cache.all()
            static.keys[:count, :, :used], static.values[:count, :, :used] = keys[rows], values[rows]
        padding = torch.zeros_like(rows) if state.padding is None else state.padding[rows]  # (R,)
        slots = torch.arange(self.slots, device=rows.device)
        self.write_slot.fill_(used)
        self.next.fill_(used)
        self.next[:count, 0] -= padding
        self.positions.copy_(slots)
        self.positions[:count] -= padding[:, None]
        self.positions.clamp_min_(0)
        self.seen.copy_(slots < used)
        self.seen[:count] &= slots >= padding[:, None]
        return used

    def unload(self, rows: Tensor, used: int) -> TransformerState:
        """Return the state of some rows, of which `used` slots are used."""
        caches = []
        for static in self.caches:
            caches.append(KeyValueCache())
            caches[-1].append(static.keys[rows, :, :used], static.values[rows, :, :used])
        seen, padding = self.seen[rows, None, :used].clone(), used - self.next[rows, 0]
        return TransformerState(caches, used, self.positions[rows, :used], seen, padding)

    def take(self, other: "StaticGptState", used: int) -> None:
        """Copy in the state of another one with fewer slots."""
        for own, smaller in zip(self.caches, other.caches, strict=True):
            own.keys[:, :, :used], own.values[:, :, :used] = smaller.keys[:, :, :used], smaller.values[:, :, :used]
        self.write_slot.copy_(other.write_slot)
        self.next.copy_(other.next)
        self.seen.zero_()
        self.seen[:, :used] = other.seen[:, :used]
        self.positions[:, :used] = other.positions[:, :used]

    def step(self, tokens: Tensor) -> Tensor:
        """Return the logits (R, V) after one more token (R,) of each row, in place."""
        scheme, like = self.model.embedding.positions, self.model.head.weight
        self.seen.index_fill_(1, self.write_slot, True)
        self.positions.index_copy_(1, self.write_slot, self.next)
        mask_bias = as_bias(self.seen[:, None, None], like.dtype)  # (R, 1, 1, slots)
        bias, rotation = scheme.bias(self.next, self.positions), scheme.rotation(self.next)
        view = View(bias=mask_bias if bias is None else mask_bias + bias, rotation=rotation)
        x = self.model.embedding(tokens[:, None], self.next)  # (R, 1, D)
        logits = self._fused_blocks(x[:, 0].contiguous(), view) if self.is_fused else self._blocks(x, view)
        self.write_slot += 1
        self.next += 1
        return logits

    def _blocks(self, x: Tensor, view: View) -> Tensor:
        for block, cache in zip(self.model.blocks, self.caches, strict=True):
            x = block(x, view, cache)
        return torch.as_tensor(self.model.project(self.model.finish(x)[:, 0])).float()

    def _fused_blocks(self, x: Tensor, view: View) -> Tensor:
        """Return the logits of `_blocks`, computed in few kernels."""
        used = self.write_slot + 1
        for block, cache in zip(self.model.blocks, self.caches, strict=True):
            x = feed_forward(block, self_attention(block, x, view, cache, used))
        return linear(x, self.model.head, norm=self.model.norm, is_wide=True)
