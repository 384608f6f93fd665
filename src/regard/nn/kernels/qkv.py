"""A CUDA kernel that writes three matrices side by side, and adds up their columns on the way."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from regard.nn.kernels.column_sum import column_sums

TILING = 8, 1024, 32
"""Rows and columns that a program holds of a matrix at a time, and tiles, one below the other, that it adds up."""


@triton.jit
def _together(
    first,
    second,
    third,
    found,
    totals,
    N,
    width,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    TILES: tl.constexpr,
):
    part = tl.program_id(2)
    source = first
    if part == 1:
        source = second
    if part == 2:
        source = third
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    is_column = columns < width
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for tile in range(TILES):
        rows = (tl.program_id(0) * TILES + tile) * ROWS + tl.arange(0, ROWS)
        inside = (rows < N)[:, None] & is_column[None, :]
        places = rows.to(tl.int64)[:, None] * width
        value = tl.load(source + places + columns[None, :], mask=inside, other=0.0)
        tl.store(found + 3 * places + part * width + columns[None, :], value, mask=inside)
        total += value.to(tl.float32)
    tl.store(totals + (tl.program_id(0) * 3 + part) * width + columns, tl.sum(total, 0), mask=is_column)


def together(first: Tensor, second: Tensor, third: Tensor) -> tuple[Tensor, Tensor]:
    """Return three matrices (N, D) side by side (N, 3 D), and the sums of the columns (3 D,) in fp32."""
    N, width = first.shape
    parts = [part.contiguous() for part in (first, second, third)]
    found = first.new_empty(N, 3 * width)
    rows, columns, tiles = TILING
    grid = (triton.cdiv(N, rows * tiles), triton.cdiv(width, columns), 3)
    totals = torch.empty(grid[0], 3 * width, dtype=torch.float32, device=first.device)
    _together[grid](*parts, found, totals, N, width, *TILING)
    return found, column_sums(totals)
