"""Two CUDA kernels for all that lies between the logits of a step and the next: the best continuations of each
hypothesis, and of these the best of each sentence; those that do not end run on.

As kernels of torch's this is twenty, one of which sorts; they would take longer than two layers of a small model.
"""

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _best_of_hypotheses(
    logits, so_far, said, never, values, tokens, V, end, min_length,
    count: tl.constexpr, NEVER: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """For each row of logits, the `count` most probable tokens and the hypothesis' total with each, best first."""
    row = tl.program_id(0).to(tl.int64)
    places = tl.arange(0, BLOCK)
    x = tl.load(logits + row * V + places, mask=places < V, other=-float("inf"))
    highest = tl.max(x, 0)
    log_sum = tl.log(tl.sum(tl.exp(x - highest), 0))
    for number in tl.static_range(NEVER):
        x = tl.where(places == tl.load(never + number), -float("inf"), x)
    x = tl.where((places == end) & (tl.load(said) + 1 < min_length), -float("inf"), x)
    before = tl.load(so_far + row)
    for rank in range(count):
        best, token = tl.max(x, 0, return_indices=True)
        tl.store(values + row * count + rank, best - highest - log_sum + before)
        tl.store(tokens + row * count + rank, token)
        x = tl.where(places == token, -float("inf"), x)


@triton.jit
def _best_of_sentences(
    values, choices, so_far, order, tokens, found, end,
    beam_size: tl.constexpr, count: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """For each sentence the best of its hypotheses' continuations, and those of them that run on."""
    sentence = tl.program_id(0).to(tl.int64)
    places = tl.arange(0, BLOCK)
    x = tl.load(values + sentence * beam_size * count + places, mask=places < beam_size * count, other=-float("inf"))
    is_left = places < beam_size * count
    run_on = 0
    for rank in range(count):
        # A total of minus infinity is still a candidate, but none is taken twice.
        total = tl.max(x, 0)
        place = tl.min(tl.where(is_left & (x == total), places, BLOCK), 0)
        place = tl.minimum(place, beam_size * count - 1)
        token = tl.load(choices + sentence * beam_size * count + place)
        origin = place // count
        at = found + sentence * 3 * count + rank
        tl.store(at, total)
        tl.store(at + count, origin.to(tl.float32))
        tl.store(at + 2 * count, token.to(tl.float32))
        row = sentence * beam_size + run_on
        runs_on = (token != end) & (run_on < beam_size)
        tl.store(so_far + row, total, mask=runs_on)
        tl.store(order + row, sentence * beam_size + origin, mask=runs_on)
        tl.store(tokens + row, token.to(tl.int64), mask=runs_on)
        run_on += runs_on.to(tl.int32)
        x = tl.where(places == place, -float("inf"), x)
        is_left = is_left & (places != place)


class Books(NamedTuple):
    """What a step reads and writes, in fixed places: B sentences with `beams` hypotheses each."""

    so_far: Tensor  # (B, beams)
    said: Tensor  # ()
    never: Tensor  # (tokens,)
    order: Tensor  # (B * beams,)
    tokens: Tensor  # (B * beams,)
    found: Tensor  # (B, 3, 2 * beams) totals, origins and tokens


def select(logits: Tensor, books: Books, end: int, min_length: int) -> None:
    """Choose what runs on after logits (B * beams, V), and say what was found, in place."""
    (R, V), (B, beam_size), count = logits.shape, books.so_far.shape, books.found.size(2)
    values = torch.empty(R, count, device=logits.device)
    choices = torch.empty(R, count, dtype=torch.int32, device=logits.device)
    block = triton.next_power_of_2(V)
    _best_of_hypotheses[(R,)](
        logits.contiguous(), books.so_far, books.said, books.never, values, choices, V, end, min_length,
        count=count, NEVER=len(books.never), BLOCK=block, num_warps=max(4, min(32, block // 1024)),
    )  # fmt: skip
    _best_of_sentences[(B,)](
        values, choices, books.so_far, books.order, books.tokens, books.found, end,
        beam_size=beam_size, count=count, BLOCK=triton.next_power_of_2(beam_size * count), num_warps=1,
    )  # fmt: skip
