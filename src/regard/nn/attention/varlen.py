"""Varlen attention: sequences are packed end to end in one row, so that only attention ever needs padding."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from regard.nn.kernels.availability import HALVES, product_dtype


@dataclass(frozen=True)
class VarlenLayout:
    """Boundaries of the sequences packed in one row, which they fill completely."""

    cu_seqlens: Tensor  # (R + 1,) int32: the start of each sequence, and the end of the last
    max_seqlen: int
    """Maximum sequence length in tokens, or an upper bound of it."""

    def has_kernel_for(self, x: Tensor, head_width: int) -> bool:
        """Return True if the flash-attention kernel supports queries computed from x."""
        return x.is_cuda and product_dtype(x) in HALVES and head_width % 8 == 0

    def attend(self, query: Tensor, key: Tensor, value: Tensor, dropout: float) -> Tensor:
        """Return the attention of queries (1, H, N, K) within their own sequences, by torch's flash attention.

        `torch.nn.attention.varlen` calls the same kernel, but has no dropout.
        """
        flat = [each.squeeze(0).transpose(0, 1) for each in (query, key, value)]  # (N, H, K)
        sizes = (self.cu_seqlens, self.cu_seqlens, self.max_seqlen, self.max_seqlen)
        outputs = torch.ops.aten._flash_attention_forward(*flat, *sizes, dropout, False, False)[0]
        return outputs.transpose(0, 1)[None]

    def padded(self, x: Tensor) -> Tensor:
        """Return (R, H, max_seqlen, K) for (1, H, N, K): one row per sequence, padded with arbitrary values."""
        if self.is_full(x.size(2)):
            return x[0].unflatten(1, (-1, self.max_seqlen)).transpose(0, 1)
        positions = self.cu_seqlens[:-1, None] + torch.arange(self.max_seqlen, device=x.device)
        return _rows(x, positions.clamp_max(x.size(2) - 1)).unflatten(2, (x.size(1), -1)).transpose(1, 2)

    def packed(self, x: Tensor, length: int) -> Tensor:
        """Return (1, H, N, K), N = `length`, for padded sequences (R, H, max_seqlen, K)."""
        if self.is_full(length):
            return x.transpose(0, 1).flatten(1, 2)[None]
        position = torch.arange(length, device=x.device)
        row = torch.searchsorted(self.cu_seqlens, position, right=True) - 1  # empty sequences have no positions
        return (
            _rows(x, row * self.max_seqlen + position - self.cu_seqlens[row])
            .unflatten(1, (x.size(1), -1))
            .transpose(0, 1)[None]
        )

    def token_mask(self) -> Tensor:
        """Return the mask (R, max_seqlen) of tokens in padded sequences.

        An empty sequence has one such position: a row without any key has outputs and gradients of NaN.
        """
        step = torch.arange(self.max_seqlen, device=self.cu_seqlens.device)
        return step < self.cu_seqlens.diff().clamp_min(1)[:, None]

    def is_full(self, length: int) -> bool:
        """Return True if all sequences have `max_seqlen` tokens, by the length of the packed row alone."""
        return length == self.max_seqlen * (self.cu_seqlens.numel() - 1)


def _rows(x: Tensor, positions: Tensor) -> Tensor:
    """Return the concatenated heads (..., H * K) of (B, H, T, K) at the given ones of its B * T positions.

    An embedding look-up copies whole rows, and has the fastest backward pass.
    """
    return F.embedding(positions, x.transpose(1, 2).flatten(2).flatten(0, 1))
