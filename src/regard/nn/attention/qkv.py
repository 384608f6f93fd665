"""Split of the query/key/value projection whose backward pass concatenates gradients and sums the bias in one kernel.

Unfused, one kernel concatenates the gradients, and a second reads all of them again to sum them.
"""

from typing import Any

import torch
from torch import Tensor


@torch.library.custom_op("regard::heads_together", mutates_args=())
def heads_together(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Return three tensors (B, H, T, K) concatenated (B, T, 3 H K), and their sum over B and T in fp32."""
    from regard.nn.kernels.qkv import together  # Triton takes a second to load

    B, H, T, K = query.shape
    rows = [part.transpose(1, 2).reshape(B * T, H * K) for part in (query, key, value)]
    packed, total = together(*rows)
    return packed.view(B, T, 3 * H * K), total


@heads_together.register_fake
def _like(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    B, H, T, K = query.shape
    return query.new_empty(B, T, 3 * H * K), query.new_empty(3 * H * K, dtype=torch.float32)


class _SplitQkv(torch.autograd.Function):
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

    The product must use a detached bias: its gradient is computed here, and b is passed again for that alone.
    """
    parts: tuple[Tensor, Tensor, Tensor] = _SplitQkv.apply(packed, bias, head_width)
    return parts
