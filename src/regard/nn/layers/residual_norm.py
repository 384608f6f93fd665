"""A norm beside the sum that it is taken of: on the way back, one kernel adds the gradients of both.

Step by step, the gradient that comes through the norm is written, and read again to be added to the other.
"""

from typing import Any

import torch
from torch import Tensor, nn

from regard.nn.kernels.availability import can_fuse, product_dtype


@torch.library.custom_op("regard::norm_backward", mutates_args=())
def norm_backward(
    beside: Tensor, gradient: Tensor, x: Tensor, mean: Tensor, scale: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the gradients in x (..., D), and in weight and bias (2, D), for those beside the norm and behind it."""
    from regard.nn.kernels.norm import backward  # the compiler takes a second to load

    return backward(beside.contiguous(), gradient.contiguous(), x.contiguous(), mean, scale, weight)


@norm_backward.register_fake
def _like(
    beside: Tensor, gradient: Tensor, x: Tensor, mean: Tensor, scale: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor]:
    of_x = torch.empty_like(x, memory_format=torch.contiguous_format)
    return of_x, weight.new_empty(2, *weight.shape)


class _Beside(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
        said, mean, scale = torch.native_layer_norm(x.float(), weight.shape, weight, bias, epsilon)
        ctx.save_for_backward(x, mean, scale, weight)
        kind = product_dtype(x)  # so narrow, its gradient comes back narrow
        # Compiled by torch 2.11, a tensor cast to what it is already has no gradient.
        return x.view_as(x), said if said.dtype == kind else said.to(kind)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        of_x, (of_weight, of_bias) = norm_backward(*gradients, *ctx.saved_tensors)
        return of_x, of_weight, of_bias, None


def beside_norm(norm: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return x (..., D), and its norm for products to work with."""
    if norm.training and isinstance(norm, nn.LayerNorm) and norm.bias is not None and can_fuse(x):
        found: tuple[Tensor, Tensor] = _Beside.apply(x, norm.weight, norm.bias, norm.eps)
        return found
    return x, norm(x)
