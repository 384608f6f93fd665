"""Who may look at whom: boolean masks, True = may look, broadcast to (B, H, T, S). Made here and nowhere else."""

import torch
from torch import Tensor


def padding_mask(real: Tensor) -> Tensor:
    """Return the mask (B, 1, 1, S) under which nobody looks at padding."""
    return real[:, None, None, :]


def causal_mask(queries: int, keys: int, device: torch.device) -> Tensor:
    """Return the mask (T, S) under which nobody looks ahead.

    The last query stands at the last key, so the mask stays right when a cache makes S > T (the `is_causal` of
    scaled_dot_product_attention lines up the first ones instead).
    """
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)
