"""Attention within sequences that lie end to end, so that nothing but attention itself can ever see padding."""

from dataclasses import dataclass

import torch
from torch import Tensor

HALVES = (torch.bfloat16, torch.float16)
"""Numbers that the kernel for sequences of any length works with."""


@dataclass(frozen=True)
class EndToEnd:
    """Where sequences begin and end in a row that holds all of them; nothing of the row lies outside."""

    bounds: Tensor  # (R + 1,) int32: where each begins, and where the last ends
    longest: int
    """No sequence is longer; a bound will do."""

    def has_kernel_for(self, query: Tensor) -> bool:
        """Tell whether queries can be served where they lie."""
        return query.device.type == "cuda" and query.dtype in HALVES and query.size(-1) % 8 == 0

    def attend(self, query: Tensor, key: Tensor, value: Tensor, dropout: float) -> Tensor:
        """Return what the queries (1, H, N, K) see of their own sequence, by torch's own flash attention.

        `torch.nn.attention.varlen` calls the same kernel, but knows no dropout.
        """
        flat = [each[0].transpose(0, 1) for each in (query, key, value)]  # (N, H, K)
        sizes = (self.bounds, self.bounds, self.longest, self.longest)
        seen = torch.ops.aten._flash_attention_forward(*flat, *sizes, dropout, False, False)[0]
        return seen.transpose(0, 1)[None]

    def apart(self, x: Tensor) -> Tensor:
        """Return (R, H, longest, K) for (1, H, N, K): a row a sequence, with whatever comes behind short ones."""
        if self.is_full(x.size(2)):
            return x[0].unflatten(1, (-1, self.longest)).transpose(0, 1)
        places = self.bounds[:-1, None] + torch.arange(self.longest, device=x.device)
        return x[0][:, places.clamp_max(x.size(2) - 1)].transpose(0, 1)

    def together(self, x: Tensor, like: Tensor) -> Tensor:
        """Return (1, H, N, K), `like` what was taken apart, for (R, H, longest, K)."""
        x = x.transpose(0, 1).flatten(1, 2)  # (H, R * longest, K)
        if self.is_full(like.size(2)):
            return x[None]
        place = torch.arange(like.size(2), device=x.device)
        row = torch.searchsorted(self.bounds, place, right=True) - 1  # empty sequences have no places
        return x[:, row * self.longest + place - self.bounds[row]][None]

    def real(self) -> Tensor:
        """Return where rows of sequences taken apart (R, longest) hold something of their own.

        An empty sequence has one such place: who sees nothing at all hands on, and back, what is no number.
        """
        step = torch.arange(self.longest, device=self.bounds.device)
        return step < self.bounds.diff().clamp_min(1)[:, None]

    def is_full(self, length: int) -> bool:
        """Tell by the length of the whole row alone that all sequences are equally long."""
        return length == self.longest * (self.bounds.numel() - 1)
