"""Fused beam selection: two Triton kernels for everything between the logits of a step and the next step, namely the
best continuations of each hypothesis, of these the best of each sentence, and of these the active ones.

In PyTorch this takes twenty kernels, one of which sorts: longer than two layers of a small model.
"""

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _best_of_hypotheses(
    logits, running_totals, length, never, values, tokens, V, end, min_length,
    count: tl.constexpr, NEVER: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Store the `count` most probable tokens of each row of logits and the totals with them, best first."""
    row = tl.program_id(0).to(tl.int64)
    positions = tl.arange(0, BLOCK)
    x = tl.load(logits + row * V + positions, mask=positions < V, other=-float("inf"))
    highest = tl.max(x, 0)
    log_sum = tl.log(tl.sum(tl.exp(x - highest), 0))
    for number in tl.static_range(NEVER):
        x = tl.where(positions == tl.load(never + number), -float("inf"), x)
    x = tl.where((positions == end) & (tl.load(length) + 1 < min_length), -float("inf"), x)
    before = tl.load(running_totals + row)
    for rank in range(count):
        best, token = tl.max(x, 0, return_indices=True)
        tl.store(values + row * count + rank, best - highest - log_sum + before)
        tl.store(tokens + row * count + rank, token)
        x = tl.where(positions == token, -float("inf"), x)


@triton.jit
def _best_of_sentences(
    values, choices, running_totals, order, tokens, candidates, end,
    beam_size: tl.constexpr, count: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Store the best continuations of each sentence, and those of them that stay active: all but EOS."""
    sentence = tl.program_id(0).to(tl.int64)
    positions = tl.arange(0, BLOCK)
    x = tl.load(
        values + sentence * beam_size * count + positions, mask=positions < beam_size * count, other=-float("inf")
    )
    is_left = positions < beam_size * count
    active = 0
    for rank in range(count):
        # A total of minus infinity is still a candidate, but none is selected twice.
        total = tl.max(x, 0)
        index = tl.min(tl.where(is_left & (x == total), positions, BLOCK), 0)
        index = tl.minimum(index, beam_size * count - 1)
        token = tl.load(choices + sentence * beam_size * count + index)
        origin = index // count
        at = candidates + sentence * 3 * count + rank
        tl.store(at, total)
        tl.store(at + count, origin.to(tl.float32))
        tl.store(at + 2 * count, token.to(tl.float32))
        row = sentence * beam_size + active
        is_active = (token != end) & (active < beam_size)
        tl.store(running_totals + row, total, mask=is_active)
        tl.store(order + row, sentence * beam_size + origin, mask=is_active)
        tl.store(tokens + row, token.to(tl.int64), mask=is_active)
        active += is_active.to(tl.int32)
        x = tl.where(positions == index, -float("inf"), x)
        is_left = is_left & (positions != index)


class BeamBuffers(NamedTuple):
    """The static buffers of a step: B sentences of `beam_size` hypotheses each."""

    running_totals: Tensor  # (B, beam size)
    length: Tensor  # () generated tokens
    never: Tensor  # (tokens,)
    order: Tensor  # (B * beam size,)
    tokens: Tensor  # (B * beam size,)
    candidates: Tensor  # (B, 3, 2 * beam size) totals, origins and tokens


def select(logits: Tensor, buffers: BeamBuffers, end: int, min_length: int) -> None:
    """Write the candidates of logits (B * beam size, V), and the active hypotheses among them, into the buffers."""
    (R, V), (B, beam_size), count = logits.shape, buffers.running_totals.shape, buffers.candidates.size(2)
    values = torch.empty(R, count, device=logits.device)
    choices = torch.empty(R, count, dtype=torch.int32, device=logits.device)
    block = triton.next_power_of_2(V)
    _best_of_hypotheses[(R,)](
        logits.contiguous(), buffers.running_totals, buffers.length, buffers.never, values, choices, V, end,
        min_length, count=count, NEVER=len(buffers.never), BLOCK=block, num_warps=max(4, min(32, block // 1024)),
    )  # fmt: skip
    _best_of_sentences[(B,)](
        values, choices, buffers.running_totals, buffers.order, buffers.tokens, buffers.candidates, end,
        beam_size=beam_size, count=count, BLOCK=triton.next_power_of_2(beam_size * count), num_warps=1,
    )  # fmt: skip
