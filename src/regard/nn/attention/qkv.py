"""Queries, keys and values taken apart, so that their gradients and that of their bias come together in one reading.

Step by step, one kernel brings the gradients side by side, and a second reads all of them again to add them up.
"""

from typing import Any

import torch
from torch import Tensor


@torch.library.custom_op("regard::heads_together", mutates_args=())
def heads_together(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Return three tensors (B, H, T, K) side by side (B, T, 3 H K), and the sum of that over B and T, in fp32."""
    from regard.nn.kernels.qkv import together  # the compiler takes a second to load

    B, H, T, K = query.shape
    rows = [part.transpose(1, 2).reshape(B * T, H * K) for part in (query, key, value)]
    found, total = together(*rows)
    return found.view(B, T, 3 * H * K), total


@heads_together.register_fake
def _like(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    B, H, T, K = query.shape
    return query.new_empty(B, T, 3 * H * K), query.new_empty(3 * H * K, dtype=torch.float32)


class _HeadsApart(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, packed: Tensor, bias: Tensor, head_width: int) -> tuple[Tensor, Tensor, Tensor]:
        ctx.dtype = bias.dtype
        query, key, value = (part.unflatten(-1, (-1, head_width)).transpose(1, 2) for part in packed.chunk(3, dim=-1))
        return query, key, value

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        of_packed, of_bias = heads_together(*gradients)
        return of_packed, of_bias.to(ctx.dtype), None


def split_qkv(packed: Tensor, bias: Tensor, head_width: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries, keys and values (B, H, T, K) of x Wᵀ + b (B, T, 3 H K).

    The product must have left the gradient of its bias to this function: b is given once more for that alone.
    """
    found: tuple[Tensor, Tensor, Tensor] = _HeadsApart.apply(packed, bias, head_width)
    return found
