"""A CUDA kernel for the backward pass of LayerNorm, which also adds the gradient of the residual connection."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from regard.nn.kernels.column_sum import column_sums

ROWS, TILES, WARPS = 1, 32, 4
"""Rows of a tile, tiles of a program, and its warps."""


@triton.jit
def _backward(
    beside,
    gradient,
    x,
    mean,
    scale,
    weight,
    of_x,
    sums,
    N,
    width,
    COLUMNS: tl.constexpr,
    ROWS: tl.constexpr,
    TILES: tl.constexpr,
):
    columns = tl.arange(0, COLUMNS)
    is_column = columns < width
    factor = tl.load(weight + columns, mask=is_column, other=0.0).to(tl.float32)[None, :]
    of_weight = tl.zeros((ROWS, COLUMNS), tl.float32)
    of_bias = tl.zeros((ROWS, COLUMNS), tl.float32)
    for tile in range(TILES):
        rows = (tl.program_id(0) * TILES + tile) * ROWS + tl.arange(0, ROWS)
        is_row = rows < N
        inside = is_row[:, None] & is_column[None, :]
        offsets = rows.to(tl.int64)[:, None] * width + columns[None, :]
        upstream = tl.load(gradient + offsets, mask=inside, other=0.0).to(tl.float32)
        middle = tl.load(mean + rows, mask=is_row, other=0.0)[:, None]
        spread = tl.load(scale + rows, mask=is_row, other=0.0)[:, None]
        value = tl.load(x + offsets, mask=inside, other=0.0).to(tl.float32)
        normed = tl.where(inside, (value - middle) * spread, 0.0)
        past = tl.load(beside + offsets, mask=inside, other=0.0).to(tl.float32)
        through = upstream * factor
        along = tl.sum(through * normed, 1)[:, None] / width
        level = tl.sum(through, 1)[:, None] / width
        tl.store(of_x + offsets, past + spread * (through - level - normed * along), mask=inside)
        of_weight += upstream * normed
        of_bias += upstream
    start = sums + tl.program_id(0) * 2 * width + columns
    tl.store(start, tl.sum(of_weight, 0), mask=is_column)
    tl.store(start + width, tl.sum(of_bias, 0), mask=is_column)


def backward(
    beside: Tensor, gradient: Tensor, x: Tensor, mean: Tensor, scale: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the gradients of x (..., D), and of weight and bias (2, D)."""
    width = x.size(-1)
    N = x.numel() // width
    programs = triton.cdiv(N, ROWS * TILES)
    of_x = torch.empty_like(x)
    sums = torch.empty(programs, 2 * width, dtype=torch.float32, device=x.device)
    _backward[(programs,)](
        beside,
        gradient,
        x,
        mean,
        scale,
        weight,
        of_x,
        sums,
        N,
        width,
        triton.next_power_of_2(width),
        ROWS,
        TILES,
        num_warps=WARPS,
    )
    return of_x, column_sums(sums).view(2, width).to(weight.dtype)
