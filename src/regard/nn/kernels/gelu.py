"""CUDA kernels for bias + GELU and both gradients: each matrix is read once and written once.

Unfused, the gradient of the bias reads the whole gradient of the activation again to sum it.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from regard.nn.kernels.column_sum import column_sums

FORWARD, BACKWARD = (4, 256, 16), (2, 1024, 64)
"""Rows and columns of a tile, and the number of tiles, one below the other, of a program; in the backward pass it
sums the bias gradients of its tiles."""


@triton.jit
def _gate(x, is_tanh: tl.constexpr):
    """Return Φ(x), the factor of x in GELU, or its tanh approximation, and the derivative."""
    if is_tanh:  # ½ (1 + tanh u) = sigmoid 2u with u = √(2 / π) (x + 0.044715 x³)
        gate = 1.0 / (1.0 + tl.exp(-1.5957691216057308 * x * (1.0 + 0.044715 * x * x)))
        slope = gate * (1.0 - gate) * 1.5957691216057308 * (1.0 + 0.134145 * x * x)
    else:  # 1 - erf to 1.5e-7 (Abramowitz & Stegun, 7.1.26): both need the same exponential alone
        bell = tl.exp(-0.5 * x * x)
        t = 1.0 / (1.0 + 0.23164189 * tl.abs(x))
        series = t * (-0.142248368 + t * (0.7107068705 + t * (-0.7265760135 + t * 0.5307027145)))
        tail = bell * t * (0.127414796 + series)  # Φ(-|x|)
        gate = tl.where(x > 0, 1.0 - tail, tail)
        slope = 0.3989422804014327 * bell
    return gate, slope


@triton.jit
def _forward(
    x, bias, output, N, width, is_tanh: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, TILES: tl.constexpr
):
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    is_column = columns < width
    shift = tl.load(bias + columns, mask=is_column, other=0.0).to(tl.float32)[None, :]
    for tile in range(TILES):
        rows = (tl.program_id(0) * TILES + tile) * ROWS + tl.arange(0, ROWS)
        offsets = rows.to(tl.int64)[:, None] * width + columns[None, :]
        inside = (rows < N)[:, None] & is_column[None, :]
        value = tl.load(x + offsets, mask=inside, other=0.0).to(tl.float32) + shift
        gate, _ = _gate(value, is_tanh)
        tl.store(output + offsets, value * gate, mask=inside)


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
        offsets = rows.to(tl.int64)[:, None] * width + columns[None, :]
        inside = (rows < N)[:, None] & is_column[None, :]
        value = tl.load(x + offsets, mask=inside, other=0.0).to(tl.float32) + shift
        upstream = tl.load(gradient + offsets, mask=inside, other=0.0).to(tl.float32)
        gate, slope = _gate(value, is_tanh)
        slope_x = upstream * (gate + value * slope)
        tl.store(of_x + offsets, slope_x, mask=inside)
        total += slope_x
    tl.store(of_bias + tl.program_id(0) * width + columns, tl.sum(total, 0), mask=is_column)


def forward(x: Tensor, bias: Tensor, is_tanh: bool) -> Tensor:
    """Return GELU(x + bias) for x (..., F)."""
    N, width = x.numel() // x.size(-1), x.size(-1)
    output = torch.empty_like(x)
    _forward[_grid(N, width, FORWARD)](x, bias, output, N, width, is_tanh, *FORWARD)
    return output


def backward(gradient: Tensor, x: Tensor, bias: Tensor, is_tanh: bool) -> tuple[Tensor, Tensor]:
    """Return the gradients of x (..., F) and of the bias (F,)."""
    N, width = x.numel() // x.size(-1), x.size(-1)
    grid, of_x = _grid(N, width, BACKWARD), torch.empty_like(x)
    partial = torch.empty(grid[0], width, dtype=torch.float32, device=x.device)
    _backward[grid](gradient.contiguous(), x, bias, of_x, partial, N, width, is_tanh, *BACKWARD)
    return of_x, column_sums(partial).to(bias.dtype)


def _grid(N: int, width: int, tiling: tuple[int, int, int]) -> tuple[int, int]:
    rows, columns, tiles = tiling
    return triton.cdiv(N, rows * tiles), triton.cdiv(width, columns)
