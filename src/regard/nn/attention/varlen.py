"""Attention within sequences that lie end to end, so that nothing but attention itself can ever see padding."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from regard.nn.kernels.availability import HALVES, product_dtype


@dataclass(frozen=True)
class VarlenLayout:
    """Where sequences begin and end in a row that holds all of them; nothing of the row lies outside."""

    cu_seqlens: Tensor  # (R + 1,) int32: where each begins, and where the last ends
    max_seqlen: int
    """No sequence is longer; a bound will do."""

    def has_kernel_for(self, x: Tensor, head_width: int) -> bool:
        """Tell whether queries made from x can be served where they lie."""
        return x.is_cuda and product_dtype(x) in HALVES and head_width % 8 == 0

    def attend(self, query: Tensor, key: Tensor, value: Tensor, dropout: float) -> Tensor:
        """Return what the queries (1, H, N, K) see of their own sequence, by torch's own flash attention.

        `torch.nn.attention.varlen` calls the same kernel, but knows no dropout.
        """
        flat = [each.squeeze(0).transpose(0, 1) for each in (query, key, value)]  # (N, H, K)
        sizes = (self.cu_seqlens, self.cu_seqlens, self.max_seqlen, self.max_seqlen)
        seen = torch.ops.aten._flash_attention_forward(*flat, *sizes, dropout, False, False)[0]
        return seen.transpose(0, 1)[None]

    def apart(self, x: Tensor) -> Tensor:
        """Return (R, H, longest, K) for (1, H, N, K): a row a sequence, with whatever comes behind short ones."""
        if self.is_full(x.size(2)):
            return x[0].unflatten(1, (-1, self.max_seqlen)).transpose(0, 1)
        places = self.cu_seqlens[:-1, None] + torch.arange(self.max_seqlen, device=x.device)
        return _rows(x, places.clamp_max(x.size(2) - 1)).unflatten(2, (x.size(1), -1)).transpose(1, 2)

    def together(self, x: Tensor, length: int) -> Tensor:
        """Return (1, H, N, K), N the length of what was taken apart, for (R, H, longest, K)."""
        if self.is_full(length):
            return x.transpose(0, 1).flatten(1, 2)[None]
        place = torch.arange(length, device=x.device)
        row = torch.searchsorted(self.cu_seqlens, place, right=True) - 1  # empty sequences have no places
        return (
            _rows(x, row * self.max_seqlen + place - self.cu_seqlens[row])
            .unflatten(1, (x.size(1), -1))
            .transpose(0, 1)[None]
        )

    def token_mask(self) -> Tensor:
        """Return where rows of sequences taken apart (R, longest) hold something of their own.

        An empty sequence has one such place: who sees nothing at all hands on, and back, what is no number.
        """
        step = torch.arange(self.max_seqlen, device=self.cu_seqlens.device)
        return step < self.cu_seqlens.diff().clamp_min(1)[:, None]

    def is_full(self, length: int) -> bool:
        """Tell by the length of the whole row alone that all sequences are equally long."""
        return length == self.max_seqlen * (self.cu_seqlens.numel() - 1)


def _rows(x: Tensor, places: Tensor) -> Tensor:
    """Return the heads side by side (..., H * K) that (B, H, T, K) has at some of its B * T places.

    Whole rows are copied, as from a table of embeddings, whose gradient is the fastest to gather up again.
    """
    return F.embedding(places, x.transpose(1, 2).flatten(2).flatten(0, 1))
