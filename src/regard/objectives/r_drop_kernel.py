"""One CUDA kernel for two rows of logits: how far their distributions are apart, and the gradients in their places.

Step by step, this reads and writes matrices as large as all logits thirty times over; here each logit is read three
times, mostly from the cache, and written once.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from regard.objectives.softmax_kernel import EACH, WARPS


@triton.jit
def _log_z(logits, columns, V, THREADS: tl.constexpr, BLOCK: tl.constexpr):
    """Return the logarithm of what a row's exponentials add up to; each thread keeps its own sums until the end."""
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
def _rows(first, second, is_real, apart, V, stride, THREADS: tl.constexpr, EACH: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    first += row * stride
    second += row * stride
    columns = tl.arange(0, THREADS)[:, None] * EACH + tl.arange(0, EACH)[None, :]
    BLOCK: tl.constexpr = THREADS * EACH
    z_first = _log_z(first, columns, V, THREADS, BLOCK)
    z_second = _log_z(second, columns, V, THREADS, BLOCK)
    there = tl.zeros((THREADS,), tl.float32)
    back = tl.zeros((THREADS,), tl.float32)
    for start in range(0, V, BLOCK):
        inside = start + columns < V
        log_p = tl.load(first + start + columns, mask=inside, other=0.0).to(tl.float32) - z_first
        log_q = tl.load(second + start + columns, mask=inside, other=0.0).to(tl.float32) - z_second
        ratio = tl.where(inside, log_p - log_q, 0.0)
        there += tl.sum(tl.exp(log_p) * ratio, 1)
        back -= tl.sum(tl.exp(log_q) * ratio, 1)
    to_second, to_first = tl.sum(there, 0), tl.sum(back, 0)  # KL(p ‖ q) and KL(q ‖ p)
    kept = tl.where(tl.load(is_real + row) != 0, 0.5, 0.0)
    tl.store(apart + row, kept * (to_second + to_first))
    for start in range(0, stride, BLOCK):
        inside = start + columns < V
        log_p = tl.load(first + start + columns, mask=inside, other=0.0).to(tl.float32) - z_first
        log_q = tl.load(second + start + columns, mask=inside, other=0.0).to(tl.float32) - z_second
        p, q, ratio = tl.exp(log_p), tl.exp(log_q), log_p - log_q
        slope = tl.where(inside, kept * (p * (ratio - to_second) + p - q), 0.0)
        other = tl.where(inside, kept * (q * (-ratio - to_first) + q - p), 0.0)
        tl.store(first + start + columns, slope, mask=start + columns < stride)
        tl.store(second + start + columns, other, mask=start + columns < stride)


def disagreement_rows_(first: Tensor, second: Tensor, is_real: Tensor, V: int) -> Tensor:
    """Return ½ (KL(p ‖ q) + KL(q ‖ p)) of each row (n,), 0 where it is not real.

    The logits (n, V or more columns, which fill up) of both become its gradients in them.
    """
    n, stride = first.shape
    apart = first.new_empty(n, dtype=torch.float32)
    _rows[(n,)](
        first, second, is_real.to(torch.int8), apart, V, stride, THREADS=32 * WARPS, EACH=EACH, num_warps=WARPS
    )
    return apart
