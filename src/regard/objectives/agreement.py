"""How far two readings of the same tokens are apart: the regularised dropout of Liang et al. (2021), R-Drop."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from regard.objectives.cross_entropy import chunk_rows


def disagreement(first: Tensor, second: Tensor, weight: Tensor, bias: Tensor | None, labels: Tensor) -> Tensor:
    """Return Σ ½ (KL(p ‖ q) + KL(q ‖ p)) over the rows that have a label (>= 0).

    p and q are softmax(hidden (N, D) · weightᵀ (D, V) + bias) of both readings.
    """
    kind = first.device.type
    if torch.is_autocast_enabled(kind):
        first, second = (x.to(torch.get_autocast_dtype(kind)) for x in (first, second))
    found: Tensor = _Disagreement.apply(first, second, weight, bias, labels >= 0)
    return found


class _Disagreement(torch.autograd.Function):
    """Computes the gradients while both distributions are at hand: a chunk of them at a time, and never twice."""

    @staticmethod
    def forward(ctx: Any, first: Tensor, second: Tensor, weight: Tensor, bias: Tensor | None, real: Tensor) -> Tensor:
        wide = torch.promote_types(first.dtype, torch.float32)
        with torch.autocast(first.device.type, enabled=False):
            table = weight.to(first.dtype)
            shift = None if bias is None else bias.to(first.dtype)
            total = torch.zeros((), dtype=wide, device=first.device)
            gradients = [torch.empty_like(first), torch.empty_like(second)]
            of_weight = torch.zeros_like(table, dtype=wide)
            of_bias = None if bias is None else torch.zeros_like(bias, dtype=wide)
            for part in chunk_rows(first, table.size(0)):
                logs = [F.linear(x[part], table, shift).to(wide).log_softmax(1) for x in (first, second)]  # (n, V)
                p, q = (log.exp() for log in logs)
                apart = logs[0] - logs[1]
                to_second, to_first = (p * apart).sum(1, keepdim=True), -(q * apart).sum(1, keepdim=True)  # (n, 1)
                kept = 0.5 * real[part].to(wide)[:, None]
                total += (kept * (to_second + to_first)).sum()
                # d KL(p ‖ q) / d (logits of p) = p (log p - log q - KL(p ‖ q)), and d KL(q ‖ p) / d the same = p - q.
                slopes = (kept * (p * (apart - to_second) + p - q), kept * (q * (-apart - to_first) + q - p))
                for x, gradient, slope in zip((first, second), gradients, slopes):
                    narrow = slope.to(x.dtype)
                    torch.mm(narrow, table, out=gradient[part])
                    of_weight += narrow.T @ x[part]
                    if of_bias is not None:
                        of_bias += slope.sum(0)
        ctx.save_for_backward(*gradients, of_weight, of_bias)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        return *(None if g is None else g * upstream.to(g.dtype) for g in ctx.saved_tensors), None
