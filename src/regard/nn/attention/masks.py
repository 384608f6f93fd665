"""Attention masks: boolean, True = may attend, broadcast to (B, H, T, S). All masks are made here."""

import torch
from torch import Tensor


def padding_mask(token_mask: Tensor) -> Tensor:
    """Return the mask (B, 1, 1, S) that hides padding keys."""
    return token_mask[:, None, None, :]


def causal_mask(queries: int, keys: int, device: torch.device) -> Tensor:
    """Return the causal mask (T, S): no query attends to a later key.

    The last query is aligned with the last key, so the mask is right when a cache makes S > T (the `is_causal` of
    scaled_dot_product_attention aligns the first ones instead).
    """
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


def left_padding_mask(token_mask: Tensor) -> Tensor:
    """Return the causal mask (B, 1, T, T) of left-padded rows.

    A padding query attends to itself: a row without any key has a softmax of NaN.
    """
    T = token_mask.size(1)
    itself = torch.eye(T, dtype=torch.bool, device=token_mask.device)
    return causal_mask(T, T, token_mask.device) & token_mask[:, None, None, :] | itself


def branch_mask(seen: Tensor, steps: int) -> Tensor:
    """Return the mask (B, 1, hypotheses * T, S + hypotheses * T) of T further steps of branching hypotheses.

    `seen` (B, hypotheses, S) marks the slots of each hypothesis' past; each also attends to its own new ones.
    """
    B, hypotheses, _ = seen.shape
    own = torch.eye(hypotheses, dtype=torch.bool, device=seen.device)
    if steps > 1:
        own = own[:, None, :, None] & causal_mask(steps, steps, seen.device)[:, None]  # (h, T, h, T)
        own = own.flatten(2).flatten(0, 1)
    past = seen.repeat_interleave(steps, dim=1) if steps > 1 else seen
    return torch.cat((past, own.expand(B, -1, -1)), dim=2)[:, None]


def as_bias(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the mask as a bias of the scores: 0 where the mask is True, -inf elsewhere."""
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, -torch.inf)
