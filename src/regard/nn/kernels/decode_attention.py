"""A CUDA kernel for the attention of a decoding step: few queries, many keys; it writes the step's own keys first.

torch's kernels are made for as many queries as keys; for a few hypotheses they take five times as long.
"""

import math

import torch
import triton
import triton.language as tl
from torch import Tensor


@triton.jit
def _step(
    query, keys, values, bias, out, new_key, new_value, positions, used,
    N, Q, K, scale, query_b, query_h, query_n, new_b, new_h, new_n, bias_b, bias_h, bias_n,
    H: tl.constexpr, has_new: tl.constexpr, BN: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """One program per sentence and head: queries (Q, K) attend to the first `used` of the keys (N, K)."""
    program = tl.program_id(0).to(tl.int64)
    b, h = program // H, program % H
    rows, inner, columns = tl.arange(0, BQ), tl.arange(0, BK), tl.arange(0, BN)
    is_row = rows < Q
    inside = is_row[:, None] & (inner < K)[None, :]
    keys += program * N * K
    values += program * N * K
    end = N
    if has_new:
        at = b * new_b + h * new_h + rows[:, None] * new_n + inner[None, :]
        slots = tl.load(positions + rows, mask=is_row, other=0)[:, None] * K + inner[None, :]
        tl.store(keys + slots, tl.load(new_key + at, mask=inside), mask=inside)
        tl.store(values + slots, tl.load(new_value + at, mask=inside), mask=inside)
        tl.debug_barrier()  # threads read what other threads have written
        end = tl.minimum(tl.load(used).to(tl.int32), N)
    at = b * query_b + h * query_h + rows[:, None] * query_n + inner[None, :]
    q = tl.load(query + at, mask=inside, other=0.0).to(tl.float32)
    highest = tl.full((BQ,), -1e30, tl.float32)
    total = tl.zeros((BQ,), tl.float32)
    sums = tl.zeros((BQ, BK), tl.float32)
    for start in range(0, end, BN):
        here = start + columns
        is_key = here < end
        block = here[:, None] * K + inner[None, :]
        is_value = is_key[:, None] & (inner < K)[None, :]
        k = tl.load(keys + block, mask=is_value, other=0.0).to(tl.float32)
        e = tl.dot(q, tl.trans(k), input_precision="tf32x3") * scale
        wanted = is_row[:, None] & is_key[None, :]
        e += tl.load(
            bias + b * bias_b + h * bias_h + rows[:, None] * bias_n + here[None, :], mask=wanted, other=-float("inf")
        ).to(tl.float32)
        higher = tl.maximum(highest, tl.max(e, 1))
        p = tl.exp(e - higher[:, None])
        before = tl.exp(highest - higher)
        total = total * before + tl.sum(p, 1)
        v = tl.load(values + block, mask=is_value, other=0.0).to(tl.float32)
        sums = sums * before[:, None] + tl.dot(p, v, input_precision="tf32x3")
        highest = higher
    outputs = sums / tl.where(is_row, total, 1.0)[:, None]
    tl.store(out + (b * Q + rows[:, None]) * H * K + h * K + inner[None, :], outputs, mask=inside)


def step_attention(
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    bias: Tensor,
    new: tuple[Tensor, Tensor] | None = None,
    positions: Tensor | None = None,
    used: Tensor | None = None,
) -> Tensor:
    """Return the attention of queries (B, H, Q, K) to keys and values (B, H, N, K), as rows (B * Q, H * K).

    `new` keys and values (B, H, Q, K) are written to the slots `positions` (Q,) first; only the first `used` () slots
    are then attended to.
    """
    (B, H, Q, K), N = query.shape, keys.size(2)
    bias = bias.expand(B, H, Q, N)
    key, value = (query, query) if new is None else new
    positions, used = query if positions is None else positions, query if used is None else used
    if key.stride() != value.stride():  # keys that were rotated
        key, value = key.contiguous(), value.contiguous()
    if not query.stride(3) == key.stride(3) == bias.stride(3) == 1:
        raise ValueError("The last dimension must be dense.")
    out = torch.empty(B * Q, H * K, dtype=query.dtype, device=query.device)
    _step[(B * H,)](
        query, keys, values, bias, out, key, value, positions, used,
        N, Q, K, 1 / math.sqrt(K), *query.stride()[:3], *key.stride()[:3], *bias.stride()[:3],
        H=H, has_new=new is not None, BN=32 if N <= 32 else 64 if N <= 256 else 128,
        BQ=max(16, triton.next_power_of_2(Q)), BK=max(16, triton.next_power_of_2(K)), num_warps=4 if N <= 256 else 8,
    )  # fmt: skip
    return out
