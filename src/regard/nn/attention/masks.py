"""Who may look at whom: boolean masks, True = may look, broadcast to (B, H, T, S). Made here and nowhere else."""

import torch
from torch import Tensor


def padding_mask(token_mask: Tensor) -> Tensor:
    """Return the mask (B, 1, 1, S) under which nobody looks at padding."""
    return token_mask[:, None, None, :]


def causal_mask(queries: int, keys: int, device: torch.device) -> Tensor:
    """Return the mask (T, S) under which nobody looks ahead.

    The last query stands at the last key, so the mask stays right when a cache makes S > T (the `is_causal` of
    scaled_dot_product_attention lines up the first ones instead).
    """
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


def behind_padding_mask(token_mask: Tensor) -> Tensor:
    """Return the causal mask (B, 1, T, T) under which nobody looks at the padding in front of a row's tokens.

    Padding sees itself: who sees nothing at all has no weights that add up to one, and what he hands on is no number.
    """
    T = token_mask.size(1)
    itself = torch.eye(T, dtype=torch.bool, device=token_mask.device)
    return causal_mask(T, T, token_mask.device) & token_mask[:, None, None, :] | itself


def branch_mask(seen: Tensor, steps: int) -> Tensor:
    """Return the mask (B, 1, hypotheses * T, S + hypotheses * T) of T further steps of branching hypotheses.

    `seen` (B, hypotheses, S) tells which slots hold the past of which hypothesis; each also sees its own new ones.
    """
    B, hypotheses, _ = seen.shape
    own = torch.eye(hypotheses, dtype=torch.bool, device=seen.device)
    if steps > 1:
        own = own[:, None, :, None] & causal_mask(steps, steps, seen.device)[:, None]  # (h, T, h, T)
        own = own.flatten(2).flatten(0, 1)
    past = seen.repeat_interleave(steps, dim=1) if steps > 1 else seen
    return torch.cat((past, own.expand(B, -1, -1)), dim=2)[:, None]


def as_bias(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """Return what forbids the same looks when added to scores: 0 where the mask is True, -inf elsewhere."""
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, -torch.inf)
