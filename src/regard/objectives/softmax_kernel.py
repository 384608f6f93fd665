"""A CUDA kernel for cross-entropy: the loss of each row of logits, and the gradient in place of the logits.

Unfused, softmax, loss and gradient read and write the largest matrix of a model ten times; here each logit is read
twice and written once. The second pass begins where the first one ended, which the cache still holds; and each thread
keeps its own sums until the end of a row, since a reduction takes longer than an addition.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

EACH = 8
"""Adjacent logits of one thread: as many as it loads at once."""
WARPS = 8


@triton.jit
def _rows(
    logits,
    labels,
    nll,
    everything,
    V,
    stride,
    smoothing,
    other,
    has_gradient: tl.constexpr,
    THREADS: tl.constexpr,
    EACH: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    logits += row * stride
    label = tl.load(labels + row)
    is_real = label >= 0
    columns = tl.arange(0, THREADS)[:, None] * EACH + tl.arange(0, EACH)[None, :]
    BLOCK: tl.constexpr = THREADS * EACH
    highest = tl.full((THREADS,), -1e30, tl.float32)
    total = tl.zeros((THREADS,), tl.float32)  # of exp(logit - highest), rescaled whenever the maximum rises
    linear = tl.zeros((THREADS,), tl.float32)
    for start in range(0, V, BLOCK):
        inside = start + columns < V
        x = tl.load(logits + start + columns, mask=inside, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(highest, tl.max(x, 1))
        total = total * tl.exp(highest - higher) + tl.sum(tl.exp(x - higher[:, None]), 1)
        linear += tl.sum(tl.where(inside, x, 0.0), 1)
        highest = higher
    top = tl.max(highest, 0)
    log_z = top + tl.log(tl.sum(total * tl.exp(highest - top), 0))
    sum_of_logits = tl.sum(linear, 0)
    label_logit = tl.load(logits + tl.maximum(label, 0)).to(tl.float32)
    tl.store(nll + row, tl.where(is_real, log_z - label_logit, 0.0))
    tl.store(everything + row, tl.where(is_real, V * log_z - sum_of_logits, 0.0))
    if has_gradient:
        for number in range(tl.cdiv(stride, BLOCK)):
            start = (tl.cdiv(stride, BLOCK) - 1 - number) * BLOCK
            inside = start + columns < V
            x = tl.load(logits + start + columns, mask=inside, other=-float("inf")).to(tl.float32)
            p = tl.exp(x - log_z)
            gradient = p - tl.where(start + columns == label, 1 - smoothing, other)
            kept = tl.where(is_real & inside, gradient, 0.0)
            tl.store(logits + start + columns, kept, mask=start + columns < stride)


def softmax_rows_(
    logits: Tensor, labels: Tensor, smoothing: float, has_gradient: bool, V: int
) -> tuple[Tensor, Tensor]:
    """Return -log p of the labels and -Σ_v log p_v, (n,) each and 0 where there is no label (< 0).

    With `has_gradient`, the logits (n, V or more columns, the rest padding) are overwritten with the gradient of the
    smoothed cross-entropy.
    """
    n, stride = logits.shape
    nll, everything = logits.new_empty(2, n, dtype=torch.float32)
    _rows[(n,)](
        logits,
        labels,
        nll,
        everything,
        V,
        stride,
        smoothing,
        smoothing / (V - 1),
        has_gradient=has_gradient,
        THREADS=32 * WARPS,
        EACH=EACH,
        num_warps=WARPS,
    )
    return nll, everything
