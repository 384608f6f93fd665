"""A linear layer applied at every step of a loop, whose weight gradient is computed once."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


class LoopLinear:
    """x M + b with the same M (K, O), or one for each sentence (B, K, O), at every step of a loop.

    Autograd would compute a gradient of M at every step and add them up; here the inputs and the gradients of all
    steps are concatenated, and one large product gives the gradient.
    """

    def __init__(self, matrix: Tensor, bias: Tensor | None, steps: int, rows: int) -> None:
        """Prepare `steps` steps of `rows` rows; the rows of a sentence are adjacent."""
        self.matrix, self.bias = matrix, bias
        self.offsets: list[Tensor] = []
        if torch.is_grad_enabled() and (matrix.requires_grad or (bias is not None and bias.requires_grad)):
            self.inputs: list[Tensor] = []
            shape: tuple[int, ...] = (steps, rows, matrix.size(-1))
            if matrix.dim() == 3:  # (T, B, n, O)
                shape = (steps, matrix.size(0), rows // matrix.size(0), matrix.size(-1))
            self.matrix = matrix.detach()
            self.offsets = list(_Offsets.apply(matrix, bias, self.inputs, shape).unbind(0))

    def __call__(self, x: Tensor) -> Tensor:
        """Return the product (R, O) of the next step for x (R, K), or (B, n, O) for x (B, n, K)."""
        if self.offsets:
            offset = self.offsets[len(self.inputs)]
            self.inputs.append(x.detach())  # a reference to the graph would keep it alive
            multiply = torch.addmm if x.dim() == 2 else torch.baddbmm
            return multiply(offset, x, self.matrix)
        if self.bias is None:
            return x @ self.matrix
        return torch.addmm(self.bias, x, self.matrix)


class _Offsets(torch.autograd.Function):
    """The bias of every step, or zeros: their gradients are those of all products."""

    @staticmethod
    def forward(
        ctx: Any, matrix: Tensor, bias: Tensor | None, inputs: list[Tensor], shape: tuple[int, ...]
    ) -> Tensor:
        ctx.inputs, ctx.has_bias = inputs, bias is not None
        return matrix.new_zeros(()).expand(shape) if bias is None else bias.expand(shape)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        inputs = torch.stack(ctx.inputs)
        bias = upstream.flatten(0, 1).sum(0) if ctx.has_bias else None
        if upstream.dim() == 3:
            return inputs.flatten(0, 1).T @ upstream.flatten(0, 1), bias, None, None
        inputs = inputs.permute(1, 3, 0, 2).flatten(2)  # (B, K, T * n)
        return inputs @ upstream.transpose(0, 1).flatten(1, 2), bias, None, None
