"""CUDA kernels for GELU behind a bias, and for both gradients: each matrix is read once and written once.

Step by step, the gradient of the bias reads the whole gradient of the activation once more to add it up.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

ROWS, COLUMNS = 4, 512
"""What one program holds of the matrix at a time."""
TILES = 32
"""Tiles, one below the other, whose gradients a program adds up before anyone else sees them."""
WARPS = 4


@triton.jit
def _share(x, is_tanh: tl.constexpr):
    """Return Φ(x), by which GELU multiplies x, or what stands in for it, and its derivative."""
    if is_tanh:  # ½ (1 + tanh u) = sigmoid 2u with u = √(2 / π) (x + 0.044715 x³)
        share = 1.0 / (1.0 + tl.exp(-1.5957691216057308 * x * (1.0 + 0.044715 * x * x)))
        slope = share * (1.0 - share) * 1.5957691216057308 * (1.0 + 0.134145 * x * x)
    else:
        share = 0.5 * (1.0 + tl.erf(x * 0.7071067811865476))
        slope = 0.3989422804014327 * tl.exp(-0.5 * x * x)
    return share, slope


@triton.jit
def _forward(
    x, bias, found, N, width, is_tanh: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, TILES: tl.constexpr
):
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    is_column = columns < width
    shift = tl.load(bias + columns, mask=is_column, other=0.0).to(tl.float32)[None, :]
    for tile in range(TILES):
        rows = (tl.program_id(0) * TILES + tile) * ROWS + tl.arange(0, ROWS)
        places = rows.to(tl.int64)[:, None] * width + columns[None, :]
        inside = (rows < N)[:, None] & is_column[None, :]
        value = tl.load(x + places, mask=inside, other=0.0).to(tl.float32) + shift
        share, _ = _share(value, is_tanh)
        tl.store(found + places, value * share, mask=inside)


@triton.jit
def _backward(
    gradient,
    x,
    bias,
    of_x,
    of_bias,
    N,
    width,
    is_tanh: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    TILES: tl.constexpr,
):
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    is_column = columns < width
    shift = tl.load(bias + columns, mask=is_column, other=0.0).to(tl.float32)[None, :]
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for tile in range(TILES):
        rows = (tl.program_id(0) * TILES + tile) * ROWS + tl.arange(0, ROWS)
        places = rows.to(tl.int64)[:, None] * width + columns[None, :]
        inside = (rows < N)[:, None] & is_column[None, :]
        value = tl.load(x + places, mask=inside, other=0.0).to(tl.float32) + shift
        upstream = tl.load(gradient + places, mask=inside, other=0.0).to(tl.float32)
        share, slope = _share(value, is_tanh)
        down = upstream * (share + value * slope)
        tl.store(of_x + places, down, mask=inside)
        total += down
    tl.store(of_bias + tl.program_id(0) * width + columns, tl.sum(total, 0), mask=is_column)


def forward(x: Tensor, bias: Tensor, is_tanh: bool) -> Tensor:
    """Return GELU(x + bias) for x (..., F)."""
    N, width = x.numel() // x.size(-1), x.size(-1)
    found = torch.empty_like(x)
    _forward[_grid(N, width)](x, bias, found, N, width, is_tanh, ROWS, COLUMNS, TILES, num_warps=WARPS)
    return found


def backward(gradient: Tensor, x: Tensor, bias: Tensor, is_tanh: bool) -> tuple[Tensor, Tensor]:
    """Return the gradients in x (..., F) and in the bias (F,)."""
    N, width = x.numel() // x.size(-1), x.size(-1)
    grid, of_x = _grid(N, width), torch.empty_like(x)
    partial = torch.empty(grid[0], width, dtype=torch.float32, device=x.device)
    _backward[grid](
        gradient.contiguous(), x, bias, of_x, partial, N, width, is_tanh, ROWS, COLUMNS, TILES, num_warps=WARPS
    )
    return of_x, partial.sum(0).to(bias.dtype)


def _grid(N: int, width: int) -> tuple[int, int]:
    return triton.cdiv(N, ROWS * TILES), triton.cdiv(width, COLUMNS)
