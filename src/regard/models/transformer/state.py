"""Memory and state of a Transformer decoder: encoder states, and cached keys and values."""

from dataclasses import dataclass

import torch
from torch import Tensor

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
        return TransformerMemory(self.states[rows], self.token_mask[rows], projected, view)


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
