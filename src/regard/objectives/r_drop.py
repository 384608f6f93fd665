"""R-Drop (Liang et al., 2021): the symmetric KL divergence of two forward passes with different dropout."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from regard.nn.layers.dtensor import whole
from regard.nn.layers.linear import as_product
from regard.objectives.cross_entropy import GOOD_SIZE, can_fuse, chunk_rows, wide_product


def symmetric_kl(first: Tensor, second: Tensor, weight: Tensor, bias: Tensor | None, labels: Tensor) -> Tensor:
    """Return Σ ½ (KL(p ‖ q) + KL(q ‖ p)) over the rows that have a label (>= 0).

    p and q are softmax(hidden (N, D) · weightᵀ (D, V) + bias) of both passes. A split weight is gathered for it.
    """
    weight, bias = whole(weight), None if bias is None else whole(bias)
    total: Tensor = _SymmetricKl.apply(as_product(first), as_product(second), weight, bias, labels >= 0)
    return total


class _SymmetricKl(torch.autograd.Function):
    """Computes the gradients along with both distributions, one chunk at a time, and only once."""

    @staticmethod
    def forward(
        ctx: Any, first: Tensor, second: Tensor, weight: Tensor, bias: Tensor | None, token_mask: Tensor
    ) -> Tensor:
        V, wide = weight.size(0), torch.promote_types(first.dtype, torch.float32)
        is_fused = can_fuse(first)
        padding = -V % GOOD_SIZE if is_fused else 0
        with torch.autocast(first.device.type, enabled=False):
            table = F.pad(weight.to(first.dtype), (0, 0, 0, padding))
            shift = None if bias is None else F.pad(bias.to(first.dtype), (0, padding))
            total = torch.zeros((), dtype=wide, device=first.device)
            gradients = [torch.empty_like(first), torch.empty_like(second)]
            of_weight = torch.zeros_like(table, dtype=wide)
            of_bias = None if bias is None else torch.zeros(len(table), dtype=wide, device=first.device)
            for part in chunk_rows(first, V):
                first_logits, second_logits = (F.linear(x[part], table, shift) for x in (first, second))  # (n, V)
                divergence, slopes = (_fused_slopes if is_fused else _slopes)(
                    first_logits, second_logits, token_mask[part], V
                )
                total += divergence
                for x, gradient, slope in zip((first, second), gradients, slopes):
                    narrow = slope.to(x.dtype)
                    torch.mm(narrow, table, out=gradient[part])
                    of_weight += wide_product(narrow.T, x[part])
                    if of_bias is not None:
                        of_bias += slope.sum(0, dtype=wide)
        ctx.save_for_backward(*gradients, of_weight[:V], None if of_bias is None else of_bias[:V])
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        return *(None if g is None else g * upstream.to(g.dtype) for g in ctx.saved_tensors), None


def _slopes(first: Tensor, second: Tensor, token_mask: Tensor, V: int) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Return the summed divergence of rows of logits (n, V), and the gradients of both."""
    wide = torch.promote_types(first.dtype, torch.float32)
    log_p, log_q = (logits.to(wide).log_softmax(1) for logits in (first, second))
    p, q, ratio = log_p.exp(), log_q.exp(), log_p - log_q
    to_second, to_first = (p * ratio).sum(1, keepdim=True), -(q * ratio).sum(1, keepdim=True)  # (n, 1)
    kept = 0.5 * token_mask.to(wide)[:, None]
    # d KL(p ‖ q) / d (logits of p) = p (log p - log q - KL(p ‖ q)), and d KL(q ‖ p) / d the same = p - q.
    slopes = kept * (p * (ratio - to_second) + p - q), kept * (q * (-ratio - to_first) + q - p)
    return (kept * (to_second + to_first)).sum(), slopes


def _fused_slopes(first: Tensor, second: Tensor, token_mask: Tensor, V: int) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Return the same, in one kernel; the logits become the gradients."""
    from regard.objectives.r_drop_kernel import symmetric_kl_rows_  # Triton takes a second to load

    return symmetric_kl_rows_(first, second, token_mask, V).sum(), (first, second)
