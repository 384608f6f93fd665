"""Pre-norm residual: in the backward pass, one kernel adds the gradients of the norm and of the residual connection.

Unfused, the gradient of the norm is written, and read again to be added to the other.
"""

from typing import Any

import torch
from torch import Tensor, nn

from regard.nn.kernels.availability import can_fuse, product_dtype


@torch.library.custom_op("regard::norm_backward", mutates_args=())
def norm_backward(
    beside: Tensor, gradient: Tensor, x: Tensor, mean: Tensor, scale: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the gradients of x (..., D), and of weight and bias (2, D), from those of the residual and the norm."""
    from regard.nn.kernels.norm import backward  # Triton takes a second to load

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
        normed, mean, scale = torch.native_layer_norm(x.float(), weight.shape, weight, bias, epsilon)
        ctx.save_for_backward(x, mean, scale, weight)
        kind = product_dtype(x)  # its gradient then has the same precision
        # Compiled by torch 2.11, a tensor cast to its own type has no gradient.
        return x.view_as(x), normed if normed.dtype == kind else normed.to(kind)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        of_x, (of_weight, of_bias) = norm_backward(*gradients, *ctx.saved_tensors)
        return of_x, of_weight, of_bias, None


def residual_and_norm(norm: nn.Module, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return x (..., D) and norm(x), in the precision of products while training on a GPU."""
    if norm.training and isinstance(norm, nn.LayerNorm) and norm.bias is not None and can_fuse(x):
        both: tuple[Tensor, Tensor] = _Beside.apply(x, norm.weight, norm.bias, norm.eps)
        return both
    return x, norm(x)
