"""Memory and state of a Transformer decoder: encoder states, and cached keys and values."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from regard.models.base.joining import joined, moves_into_gaps
from regard.nn.attention.attention import View
from regard.nn.attention.kv_cache import KeyValueCache
from regard.nn.attention.masks import as_bias, branch_mask, left_padding_mask
from regard.nn.layers.positions import Positions

MANY_UNSEEN, MANY_IN_ALL = 20, 1280
"""Slots that may be unseen before they are counted, or a quarter of those that are seen; and those of all sentences
together, since a few cost less than counting."""


@dataclass
class TransformerMemory:
    """The encoder's final states and, after the first step, their keys and values for each decoder layer."""

    states: Tensor  # (B, S, D)
    token_mask: Tensor  # (B, S)
    projected: list[tuple[Tensor, Tensor]] | None = None  # (B, H, S, K) each
    view: View | None = None  # the cross-attention bias of all steps
    caches: list[KeyValueCache] = field(default_factory=list)
    """Buffers with room for further sentences, of which `projected` shows the rows in use."""

    def select(self, rows: Tensor) -> "TransformerMemory":
        """Return the memory of some sentences; once decoding has begun, the old one must not be used again."""
        view = View(bias=self.view.bias[rows]) if self.view and self.view.bias is not None else self.view
        if not self.projected:
            return TransformerMemory(self.states[rows], self.token_mask[rows], None, view)
        moves = moves_into_gaps(rows, len(self.token_mask))
        if moves is None:
            projected = [(key.index_select(0, rows), value.index_select(0, rows)) for key, value in self.projected]
            return TransformerMemory(self.states, self.token_mask[rows], projected, view)
        self._grow_caches()
        for cache in self.caches:
            cache.move(rows.numel(), *moves)
        projected = [cache.all() for cache in self.caches]
        return TransformerMemory(self.states, self.token_mask[rows], projected, view, self.caches)

    def join(self, other: "TransformerMemory") -> "TransformerMemory":
        """Return the memory of these sentences and then those of another one, both projected."""
        self._grow_caches()
        assert other.projected is not None, "decoding has begun"
        unused = 0 if self.token_mask.is_cuda else int((~self.token_mask.any(0)).sum())
        for cache, (keys, values) in zip(self.caches, other.projected, strict=True):
            cache.trim(after=unused)
            cache.join(keys, values, is_left=False)
        width = self.token_mask.size(1) - unused
        bias = joined(self._bias()[..., :width], other._bias(), 3, -torch.inf)
        token_mask = joined(self.token_mask[:, :width], other.token_mask)
        projected = [cache.all() for cache in self.caches]
        return TransformerMemory(self.states, token_mask, projected, View(bias=bias), self.caches)

    def _grow_caches(self) -> None:
        assert self.projected is not None, "decoding has begun"
        if not self.caches:
            self.caches = [KeyValueCache() for _ in self.projected]
            for cache, (key, value) in zip(self.caches, self.projected, strict=True):
                cache.append(key, value)

    def _bias(self) -> Tensor:
        """Return the cross-attention bias (B, 1, 1, S)."""
        shape = len(self.token_mask), 1, 1, self.token_mask.size(1)
        return self.states.new_zeros(shape) if self.view is None or self.view.bias is None else self.view.bias


@dataclass
class TransformerState:
    """The keys and values of the positions decoded so far, for each decoder layer; updated in place."""

    caches: list[KeyValueCache]
    length: int = 0
    """Number of decoded positions."""
    slots: Tensor | None = None  # (slots,), or (B, slots): the position of each cache slot
    seen: Tensor | None = None  # (B, hypotheses, slots) True where a slot belongs to a hypothesis; None: everywhere
    padding: Tensor | None = None  # (B,) padding slots before the first token of each sentence; None: none
    used: int = 0
    """Slots that a hypothesis saw when they were last counted, of the sentence with the most."""

    def select(self, hypotheses: Tensor, sentences: Tensor | None = None) -> "TransformerState":
        """Return the state of some hypotheses; caches are changed only where sentences leave."""
        if not self.length:
            return self
        caches, slots, padding = self.caches, self.slots, self.padding
        if sentences is not None:
            caches = self._caches_of(sentences)
            if slots is not None and padding is not None:
                slots, padding = slots.index_select(0, sentences), padding.index_select(0, sentences)
        seen = self.seen
        staying = caches[0].sentences
        if seen is not None or hypotheses.numel() != staying:  # without branches every slot is seen
            if seen is None:
                seen = torch.ones(1, self.caches[0].length, dtype=torch.bool, device=hypotheses.device)
                seen = seen.expand(self.caches[0].sentences, 1, -1)
            seen = seen.flatten(0, 1).index_select(0, hypotheses).unflatten(0, (staying, -1))
        state = TransformerState(caches, self.length, slots, seen, padding, self.used)
        if sentences is not None and hypotheses.device.type == "cpu":
            state._trim()
        return state

    def _caches_of(self, sentences: Tensor) -> list[KeyValueCache]:
        moves = moves_into_gaps(sentences, self.caches[0].sentences)
        if moves is None:
            return [cache.select(sentences) for cache in self.caches]
        for cache in self.caches:
            cache.move(sentences.numel(), *moves)
        return self.caches

    def join(self, other: "TransformerState") -> "TransformerState":
        """Return the state of these rows and then those of another batch, padded in front to one length."""
        (seen, slots, padding), (others_seen, others_slots, others_padding) = (
            each._by_sentence() for each in (self, other)
        )
        length = max(self.length - int(padding.min()), other.length - int(others_padding.min()))
        padding = torch.cat((padding + length - self.length, others_padding + length - other.length))
        for cache, added in zip(self.caches, other.caches, strict=True):
            cache.join(*added.all(), is_left=True)
        seen, slots = joined(seen, others_seen, 2, is_left=True), joined(slots, others_slots, is_left=True)
        return TransformerState(self.caches, length, slots, seen, padding, max(self.used, other.used))

    def _by_sentence(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return `seen`, `slots` and `padding` of each sentence, without the first slots that none of them sees."""
        self._trim()
        assert self.slots is not None, "decoding has begun"
        B = self.caches[0].sentences
        slots = self.slots.expand(B, -1)
        seen = slots.new_ones(B, 1, slots.size(1), dtype=torch.bool) if self.seen is None else self.seen
        padding = slots.new_zeros(B) if self.padding is None else self.padding
        return seen.expand(B, -1, -1), slots, padding

    def _trim(self) -> None:
        """Drop the first slots if no sentence sees them."""
        if self.seen is None or self.slots is None:
            return
        first = int(self.seen.flatten(0, 1).any(0).int().argmax())
        if first:
            self.seen, self.slots = self.seen[:, :, first:], self.slots[..., first:]
            for cache in self.caches:
                cache.trim(before=first)

    def _drop_unseen(self) -> None:
        """Drop the slots that no hypothesis of their sentence sees any more, once these may be many.

        They are those of hypotheses that were not extended. Only on a CPU: elsewhere, counting takes longer.
        """
        if self.seen is None or self.seen.device.type != "cpu":
            return
        slots, sentences = self.seen.size(2), self.seen.size(0)
        if slots - self.used < max(MANY_UNSEEN, self.used // 4, MANY_IN_ALL // sentences):
            return
        seen, all_slots, self.padding = self._by_sentence()
        is_seen = seen.any(1)  # (B, S)
        self.used = int(is_seen.sum(1).max())
        kept = is_seen.int().argsort(dim=1, stable=True)[:, -self.used :]  # (B, used), the newest last
        for cache in self.caches:
            cache.gather(kept)
        self.seen = seen.gather(2, kept[:, None].expand(-1, seen.size(1), -1))
        self.slots = all_slots.gather(1, kept)

    def check(self, scheme: Positions, steps: int, token_mask: Tensor | None = None) -> None:
        """Refuse further tokens past the last position; padding has no position."""
        length, padding = self.length + steps, self.padding if token_mask is None else (~token_mask).sum(1)
        if padding is not None and scheme.limit is not None and length > scheme.limit:
            length -= int(padding.min())
        scheme.check(length)

    def view(
        self, hypotheses: int, steps: int, scheme: Positions, like: Tensor, token_mask: Tensor | None = None
    ) -> tuple[Tensor, View]:
        """Return the positions (hypotheses * T,) and the attention view of T further steps, counting them as decoded.

        `token_mask` (B, T) is False at left padding; positions then are (B, hypotheses * T).
        """
        if token_mask is not None:
            assert not self.length, "padding comes first"
            self.padding = (~token_mask).sum(1)
        if hypotheses > 1:
            self._drop_unseen()
        positions = torch.arange(self.length, self.length + steps, device=like.device)
        if self.padding is not None:
            positions = (positions - self.padding[:, None]).clamp_min(0)  # (B, T)
        if hypotheses > 1:
            positions = positions.tile(hypotheses)
        self.slots = positions if self.slots is None else torch.cat((self.slots, positions), -1)
        bias, rotation = scheme.bias(positions, self.slots), scheme.rotation(positions)
        self.length += steps
        if token_mask is not None:
            mask, self.seen = left_padding_mask(token_mask), token_mask[:, None]  # (B, 1, T, T)
        elif self.seen is None:
            return positions, View(None, True, bias, rotation)
        else:
            mask = branch_mask(self.seen, steps)  # (B, 1, hypotheses * T, slots)
            self.seen = mask[:, 0].unflatten(1, (hypotheses, steps))[:, :, -1]
        mask_bias = as_bias(mask, like.dtype)  # once a step instead of once a layer
        return positions, View(bias=mask_bias if bias is None else mask_bias + bias, rotation=rotation)
