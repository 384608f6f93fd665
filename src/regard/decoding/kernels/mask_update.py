"""Two CUDA kernels for all of a pass of mask-predict but the model: which words are masked, and which are said.

As kernels of torch's this is thirty, one of which sorts; they would take longer than a small model's decoder.
"""

import triton
import triton.language as tl
from torch import Tensor


@triton.jit(do_not_specialize=["start", "left", "iterations", "most", "T"])
def _mask(tokens, sure, words, chosen, start, left, iterations, most, T, BLOCK: tl.constexpr):
    """For each output, mask its least sure words, and say where they are, the least sure first."""
    row = tl.program_id(0).to(tl.int64)
    places = tl.arange(0, BLOCK)
    count = tl.maximum(tl.load(words + row) * left // iterations, 1)
    tl.store(chosen + row * most + places, 0, mask=(places >= count) & (places < most))
    mine = tl.load(sure + row * T + places, mask=places < T, other=float("inf"))[:, None]
    other = tl.load(sure + row * T + places, mask=places < T, other=float("inf"))[None, :]
    is_before = (other < mine) | ((other == mine) & (places[None, :] < places[:, None]))
    rank = tl.sum(is_before.to(tl.int32), 1)
    is_masked = (rank < count) & (places < T)
    tl.store(tokens + row * T + places, start, mask=is_masked)
    tl.store(chosen + row * most + rank, places.to(tl.int64), mask=is_masked & (rank < most))


@triton.jit(do_not_specialize=["left", "iterations", "most", "T"])
def _say(
    logits, never, chosen, words, tokens, sure, V, left, iterations, most, T,
    NEVER: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """For each masked word, the most probable token and its log probability, put in its place."""
    row, number = tl.program_id(0).to(tl.int64), tl.program_id(1)
    if number < tl.maximum(tl.load(words + row) * left // iterations, 1):
        places = tl.arange(0, BLOCK)
        x = tl.load(logits + (row * most + number) * V + places, mask=places < V, other=-float("inf")).to(tl.float32)
        highest = tl.max(x, 0)
        log_sum = tl.log(tl.sum(tl.exp(x - highest), 0))
        for each in tl.static_range(NEVER):
            x = tl.where(places == tl.load(never + each), -float("inf"), x)
        best, token = tl.max(x, 0, return_indices=True)
        place = row * T + tl.load(chosen + row * most + number)
        tl.store(tokens + place, token.to(tl.int64))
        tl.store(sure + place, best - highest - log_sum)


def mask_least_sure(
    tokens: Tensor, sure: Tensor, words: Tensor, start: int, left: int, iterations: int, most: int
) -> Tensor:
    """Put the start token in the place of the least sure words (R, T), in place; return where they stand (R, most).

    Of each output's words (R,), the share of the passes that are left is masked; past those stands 0.
    """
    R, T = tokens.shape
    chosen = tokens.new_empty(R, most)
    _mask[(R,)](
        tokens, sure, words, chosen, start, left, iterations, most, T, BLOCK=triton.next_power_of_2(T), num_warps=4,
    )  # fmt: skip
    return chosen


def say_masked(
    logits: Tensor,
    never: Tensor,
    chosen: Tensor,
    words: Tensor,
    tokens: Tensor,
    sure: Tensor,
    left: int,
    iterations: int,
) -> None:
    """Put the most probable tokens, and how sure they are, in the places of masked words (R, most), in place."""
    (R, most), V, block = chosen.shape, logits.size(-1), triton.next_power_of_2(logits.size(-1))
    _say[(R, most)](
        logits.contiguous(), never, chosen, words, tokens, sure, V, left, iterations, most, tokens.size(1),
        NEVER=len(never), BLOCK=block, num_warps=max(4, min(32, block // 1024)),
    )  # fmt: skip
