"""A CUDA kernel for the gradient of a norm over features, to which it adds the one that goes past the norm."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from regard.nn.kernels.column_sum import column_sums

ROWS, TILES, WARPS = 1, 32, 4
"""Rows that a program holds at a time, how many times it goes on to others, and its warps."""


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
        places = rows.to(tl.int64)[:, None] * width + columns[None, :]
        upstream = tl.load(gradient + places, mask=inside, other=0.0).to(tl.float32)
        middle = tl.load(mean + rows, mask=is_row, other=0.0)[:, None]
        spread = tl.load(scale + rows, mask=is_row, other=0.0)[:, None]
        value = tl.load(x + places, mask=inside, other=0.0).to(tl.float32)
        normed = tl.where(inside, (value - middle) * spread, 0.0)
        past = tl.load(beside + places, mask=inside, other=0.0).to(tl.float32)
        through = upstream * factor
        along = tl.sum(through * normed, 1)[:, None] / width
        level = tl.sum(through, 1)[:, None] / width
        tl.store(of_x + places, past + spread * (through - level - normed * along), mask=inside)
        of_weight += upstream * normed
        of_bias += upstream
    place = sums + tl.program_id(0) * 2 * width + columns
    tl.store(place, tl.sum(of_weight, 0), mask=is_column)
    tl.store(place + width, tl.sum(of_bias, 0), mask=is_column)


def backward(
    beside: Tensor, gradient: Tensor, x: Tensor, mean: Tensor, scale: Tensor, weight: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the gradients in x (..., D), and in weight and bias (2, D)."""
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
