"""A CUDA kernel for column sums: it reduces the partial gradients that the programs of other kernels leave in rows.

It needs no zeroed buffer, and so no further launch, which matters for kernels of microseconds.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

ROWS, COLUMNS, WARPS = 128, 16, 8
"""The tile of one program, and its warps."""


@triton.jit
def _sum_columns(matrix, sums, N, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for first in range(0, N, ROWS):
        rows = first + tl.arange(0, ROWS)
        inside = (rows < N)[:, None] & (columns < width)[None, :]
        total += tl.load(matrix + rows[:, None] * width + columns[None, :], mask=inside, other=0.0)
    tl.store(sums + columns, tl.sum(total, 0), mask=columns < width)


def column_sums(matrix: Tensor) -> Tensor:
    """Return the sums (D,) of the columns of (N, D) in fp32."""
    N, width = matrix.shape
    sums = torch.empty(width, dtype=torch.float32, device=matrix.device)
    _sum_columns[(triton.cdiv(width, COLUMNS),)](matrix, sums, N, width, ROWS, COLUMNS, num_warps=WARPS)
    return sums
