"""A CUDA kernel that concatenates three matrices and sums their columns in one pass."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from regard.nn.kernels.column_sum import column_sums

TILING = 8, 1024, 32
"""Rows and columns of a tile, and the number of tiles, one below the other, that a program sums."""


@triton.jit
def _together(
    first,
    second,
    third,
    output,
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
        offsets = rows.to(tl.int64)[:, None] * width
        value = tl.load(source + offsets + columns[None, :], mask=inside, other=0.0)
        tl.store(output + 3 * offsets + part * width + columns[None, :], value, mask=inside)
        total += value.to(tl.float32)
    tl.store(totals + (tl.program_id(0) * 3 + part) * width + columns, tl.sum(total, 0), mask=is_column)


def together(first: Tensor, second: Tensor, third: Tensor) -> tuple[Tensor, Tensor]:
    """Return three matrices (N, D) concatenated (N, 3 D), and their column sums (3 D,) in fp32."""
    N, width = first.shape
    parts = [part.contiguous() for part in (first, second, third)]
    output = first.new_empty(N, 3 * width)
    rows, columns, tiles = TILING
    grid = (triton.cdiv(N, rows * tiles), triton.cdiv(width, columns), 3)
    totals = torch.empty(grid[0], 3 * width, dtype=torch.float32, device=first.device)
    _together[grid](*parts, output, totals, N, width, *TILING)
    return output, column_sums(totals)
