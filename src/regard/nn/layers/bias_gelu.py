"""Bias + GELU as one custom operator, usable in compiled blocks (kernels: `nn.kernels.gelu`)."""

from typing import Any

import torch
from torch import Tensor


@torch.library.custom_op("regard::gelu_of_sum", mutates_args=())
def gelu_of_sum(x: Tensor, bias: Tensor, is_tanh: bool) -> Tensor:
    """Return GELU(x + bias), or its tanh approximation, for x (..., F)."""
    from regard.nn.kernels.gelu import forward  # Triton takes a second to load

    return forward(x.contiguous(), bias, is_tanh)


@torch.library.custom_op("regard::gelu_of_sum_backward", mutates_args=())
def gelu_of_sum_backward(gradient: Tensor, x: Tensor, bias: Tensor, is_tanh: bool) -> tuple[Tensor, Tensor]:
    """Return the gradients of x (..., F) and of the bias (F,)."""
    from regard.nn.kernels.gelu import backward

    return backward(gradient, x.contiguous(), bias, is_tanh)


@gelu_of_sum.register_fake
def _like(x: Tensor, bias: Tensor, is_tanh: bool) -> Tensor:
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@gelu_of_sum_backward.register_fake
def _like_both(gradient: Tensor, x: Tensor, bias: Tensor, is_tanh: bool) -> tuple[Tensor, Tensor]:
    return torch.empty_like(x, memory_format=torch.contiguous_format), torch.empty_like(bias)


def _keep(ctx: Any, inputs: tuple[Tensor, Tensor, bool], output: Tensor) -> None:
    x, bias, ctx.is_tanh = inputs
    ctx.save_for_backward(x, bias)


def _gradients(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
    of_x, of_bias = gelu_of_sum_backward(gradient, *ctx.saved_tensors, ctx.is_tanh)
    return of_x, of_bias, None


gelu_of_sum.register_autograd(_gradients, setup_context=_keep)
