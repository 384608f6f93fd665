"""Fused mask-predict update: two Triton kernels mask the least confident tokens and write the predictions.

In PyTorch this takes thirty kernels, one of which sorts: longer than a small model's decoder.
"""

import triton
import triton.language as tl
from torch import Tensor


@triton.jit(do_not_specialize=["mask_id", "left", "iterations", "most", "T"])
def _mask(tokens, confidence, words, chosen, mask_id, left, iterations, most, T, BLOCK: tl.constexpr):
    """Mask the least confident tokens of each output, and store their positions, the least confident first."""
    row = tl.program_id(0).to(tl.int64)
    positions = tl.arange(0, BLOCK)
    count = tl.maximum(tl.load(words + row) * left // iterations, 1)
    tl.store(chosen + row * most + positions, 0, mask=(positions >= count) & (positions < most))
    own = tl.load(confidence + row * T + positions, mask=positions < T, other=float("inf"))[:, None]
    other = tl.load(confidence + row * T + positions, mask=positions < T, other=float("inf"))[None, :]
    is_before = (other < own) | ((other == own) & (positions[None, :] < positions[:, None]))
    rank = tl.sum(is_before.to(tl.int32), 1)
    is_masked = (rank < count) & (positions < T)
    tl.store(tokens + row * T + positions, mask_id, mask=is_masked)
    tl.store(chosen + row * most + rank, positions.to(tl.int64), mask=is_masked & (rank < most))


@triton.jit(do_not_specialize=["left", "iterations", "most", "T"])
def _predict(
    logits, never, chosen, words, tokens, confidence, V, left, iterations, most, T,
    NEVER: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Store the most probable token and its log probability at every masked position."""
    row, number = tl.program_id(0).to(tl.int64), tl.program_id(1)
    if number < tl.maximum(tl.load(words + row) * left // iterations, 1):
        positions = tl.arange(0, BLOCK)
        x = tl.load(logits + (row * most + number) * V + positions, mask=positions < V, other=-float("inf")).to(
            tl.float32
        )
        highest = tl.max(x, 0)
        log_sum = tl.log(tl.sum(tl.exp(x - highest), 0))
        for each in tl.static_range(NEVER):
            x = tl.where(positions == tl.load(never + each), -float("inf"), x)
        best, token = tl.max(x, 0, return_indices=True)
        index = row * T + tl.load(chosen + row * most + number)
        tl.store(tokens + index, token.to(tl.int64))
        tl.store(confidence + index, best - highest - log_sum)


def mask_least_confident(
    tokens: Tensor, confidence: Tensor, words: Tensor, mask_id: int, left: int, iterations: int, most: int
) -> Tensor:
    """Replace the least confident tokens (R, T) by the mask token, in place; return their positions (R, most).

    The fraction of each output's words (R,) that is masked is that of the iterations left; unused positions are 0.
    """
    R, T = tokens.shape
    chosen = tokens.new_empty(R, most)
    _mask[(R,)](
        tokens, confidence, words, chosen, mask_id, left, iterations, most, T,
        BLOCK=triton.next_power_of_2(T), num_warps=4,
    )  # fmt: skip
    return chosen


def predict_masked(
    logits: Tensor,
    never: Tensor,
    chosen: Tensor,
    words: Tensor,
    tokens: Tensor,
    confidence: Tensor,
    left: int,
    iterations: int,
) -> None:
    """Write the most probable tokens and their log probabilities at masked positions (R, most), in place."""
    (R, most), V, block = chosen.shape, logits.size(-1), triton.next_power_of_2(logits.size(-1))
    _predict[(R, most)](
        logits.contiguous(), never, chosen, words, tokens, confidence, V, left, iterations, most, tokens.size(1),
        NEVER=len(never), BLOCK=block, num_warps=max(4, min(32, block // 1024)),
    )  # fmt: skip
