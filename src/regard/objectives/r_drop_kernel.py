"""A CUDA kernel for R-Drop: the symmetric KL divergence of two rows of logits, and their gradients in place.

Unfused, this reads and writes matrices of the size of all logits thirty times; here each logit is read three times,
mostly from the cache, and written once.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from regard.objectives.softmax_kernel import EACH, WARPS


@triton.jit
def _log_z(logits, columns, V, THREADS: tl.constexpr, BLOCK: tl.constexpr):
    """Return the log-sum-exp of a row; each thread keeps its own sums until the end."""
    highest = tl.full((THREADS,), -1e30, tl.float32)
    total = tl.zeros((THREADS,), tl.float32)
    for start in range(0, V, BLOCK):
        x = tl.load(logits + start + columns, mask=start + columns < V, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(highest, tl.max(x, 1))
        total = total * tl.exp(highest - higher) + tl.sum(tl.exp(x - higher[:, None]), 1)
        highest = higher
    top = tl.max(highest, 0)
    return top + tl.log(tl.sum(total * tl.exp(highest - top), 0))


@triton.jit
def _rows(first, second, token_mask, divergence, V, stride, THREADS: tl.constexpr, EACH: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    first += row * stride
    second += row * stride
    columns = tl.arange(0, THREADS)[:, None] * EACH + tl.arange(0, EACH)[None, :]
    BLOCK: tl.constexpr = THREADS * EACH
    z_first = _log_z(first, columns, V, THREADS, BLOCK)
    z_second = _log_z(second, columns, V, THREADS, BLOCK)
    forward_sum = tl.zeros((THREADS,), tl.float32)
    backward_sum = tl.zeros((THREADS,), tl.float32)
    for start in range(0, V, BLOCK):
        inside = start + columns < V
        log_p = tl.load(first + start + columns, mask=inside, other=0.0).to(tl.float32) - z_first
        log_q = tl.load(second + start + columns, mask=inside, other=0.0).to(tl.float32) - z_second
        ratio = tl.where(inside, log_p - log_q, 0.0)
        forward_sum += tl.sum(tl.exp(log_p) * ratio, 1)
        backward_sum -= tl.sum(tl.exp(log_q) * ratio, 1)
    to_second, to_first = tl.sum(forward_sum, 0), tl.sum(backward_sum, 0)  # KL(p ‖ q) and KL(q ‖ p)
    kept = tl.where(tl.load(token_mask + row) != 0, 0.5, 0.0)
    tl.store(divergence + row, kept * (to_second + to_first))
    for start in range(0, stride, BLOCK):
        inside = start + columns < V
        log_p = tl.load(first + start + columns, mask=inside, other=0.0).to(tl.float32) - z_first
        log_q = tl.load(second + start + columns, mask=inside, other=0.0).to(tl.float32) - z_second
        p, q, ratio = tl.exp(log_p), tl.exp(log_q), log_p - log_q
        slope = tl.where(inside, kept * (p * (ratio - to_second) + p - q), 0.0)
        other = tl.where(inside, kept * (q * (-ratio - to_first) + q - p), 0.0)
        tl.store(first + start + columns, slope, mask=start + columns < stride)
        tl.store(second + start + columns, other, mask=start + columns < stride)


def symmetric_kl_rows_(first: Tensor, second: Tensor, token_mask: Tensor, V: int) -> Tensor:
    """Return ½ (KL(p ‖ q) + KL(q ‖ p)) of each row (n,), 0 where it is masked.

    The logits (n, V or more columns, the rest padding) of both are overwritten with their gradients.
    """
    n, stride = first.shape
    divergence = first.new_empty(n, dtype=torch.float32)
    _rows[(n,)](
        first,
        second,
        token_mask.to(torch.int8),
        divergence,
        V,
        stride,
        THREADS=32 * WARPS,
        EACH=EACH,
        num_warps=WARPS,
    )
    return divergence
