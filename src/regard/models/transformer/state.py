"""Memory and state of a Transformer decoder: encoder states, and cached keys and values."""

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.models.base.joining import joined
from regard.nn.attention.attention import View
from regard.nn.attention.kv_cache import KeyValueCache
from regard.nn.attention.masks import as_bias, branch_mask, left_padding_mask
from regard.nn.layers.positions import Positions


@dataclass
class TransformerMemory:
    """The encoder's final states and, after the first step, their keys and values for each decoder layer."""

    states: Tensor  # (B, S, D)
    token_mask: Tensor  # (B, S)
    projected: list[tuple[Tensor, Tensor]] | None = None  # (B, H, S, K) each
    view: View | None = None  # the cross-attention bias of all steps

    def select(self, rows: Tensor) -> "TransformerMemory":
        """Return the memory of some sentences."""
        projected = self.projected and [
            (key.index_select(0, rows), value.index_select(0, rows)) for key, value in self.projected
        ]
        view = View(bias=self.view.bias[rows]) if self.view and self.view.bias is not None else self.view
        states = self.states if projected else self.states[rows]
        return TransformerMemory(states, self.token_mask[rows], projected, view)

    def join(self, other: "TransformerMemory") -> "TransformerMemory":
        """Return the memory of these sentences and then those of another one, both projected."""
        assert self.projected is not None and other.projected is not None, "decoding has begun"
        projected = [
            (joined(key, other_key, 2), joined(value, other_value, 2))
            for (key, value), (other_key, other_value) in zip(self.projected, other.projected, strict=True)
        ]
        view = View(bias=joined(self._bias(), other._bias(), 3, -torch.inf))
        return TransformerMemory(self.states, joined(self.token_mask, other.token_mask), projected, view)

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

    def select(self, hypotheses: Tensor, sentences: Tensor | None = None) -> "TransformerState":
        """Return the state of some hypotheses; caches are copied only where sentences leave."""
        if not self.length:
            return self
        caches, slots, padding = self.caches, self.slots, self.padding
        if sentences is not None:
            caches = [cache.select(sentences) for cache in caches]
            if slots is not None and padding is not None:
                slots, padding = slots.index_select(0, sentences), padding.index_select(0, sentences)
        seen = self.seen
        staying = caches[0].sentences
        if seen is not None or hypotheses.numel() != staying:  # without branches every slot is seen
            if seen is None:
                seen = torch.ones(1, self.caches[0].length, dtype=torch.bool, device=hypotheses.device)
                seen = seen.expand(self.caches[0].sentences, 1, -1)
            seen = seen.flatten(0, 1).index_select(0, hypotheses).unflatten(0, (staying, -1))
        return TransformerState(caches, self.length, slots, seen, padding)

    def join(self, other: "TransformerState") -> "TransformerState":
        """Return the state of these rows and then those of another batch, padded in front to one length."""
        (seen, slots, padding), (others_seen, others_slots, others_padding) = (
            each._by_sentence() for each in (self, other)
        )
        length = max(self.length - int(padding.min()), other.length - int(others_padding.min()))
        seen = joined(seen, others_seen, 2, is_left=True)
        caches = [cache.join(each, seen.size(2)) for cache, each in zip(self.caches, other.caches, strict=True)]
        padding = torch.cat((padding + length - self.length, others_padding + length - other.length))
        return TransformerState(caches, length, joined(slots, others_slots, is_left=True), seen, padding)

    def _by_sentence(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return `seen`, `slots` and `padding` of each sentence, without the first slots that none of them sees."""
        assert self.slots is not None, "decoding has begun"
        B, slots = self.caches[0].sentences, self.slots.expand(self.caches[0].sentences, -1)
        seen = slots.new_ones(B, 1, slots.size(1), dtype=torch.bool) if self.seen is None else self.seen
        seen = seen.expand(B, -1, -1)
        first = int(seen.any(1).any(0).int().argmax())
        padding = slots.new_zeros(B) if self.padding is None else self.padding
        return seen[:, :, first:], slots[:, first:], padding

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
