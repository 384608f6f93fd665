"""A CUDA kernel for a linear layer of few rows fused with its norm before, and activation and residual sum after.

A decoding step multiplies a few rows by every matrix of a model. The products are small, and the kernels between them
take as long as they do. Few rows are multiplied by reductions; more rows, in fp32, on tensor cores, where three TF32
products are as exact as one in fp32. Sums are fp32.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

FEW = 8
"""Maximum number of rows that are multiplied by reductions."""
MANY = 768
"""Number of rows from which blocks have more rows: there are enough blocks for all multiprocessors."""
PROCESSORS = 132


@triton.jit
def _kernel(
    x, weight, bias, norm_weight, norm_bias, residual, out, M, N, epsilon,
    K: tl.constexpr, has_bias: tl.constexpr, has_norm: tl.constexpr, has_residual: tl.constexpr,
    activation: tl.constexpr, on_tensor_cores: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(1) * BM + tl.arange(0, BM)
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    is_row, is_column = rows < M, columns < N
    x_rows = x + rows[:, None] * K
    if has_norm:
        total = tl.zeros((BM,), tl.float32)
        for start in range(0, K, BK):
            inside = is_row[:, None] & (start + inner < K)[None, :]
            total += tl.sum(tl.load(x_rows + start + inner[None, :], mask=inside, other=0.0).to(tl.float32), 1)
        mean = total / K
        square = tl.zeros((BM,), tl.float32)
        for start in range(0, K, BK):
            inside = is_row[:, None] & (start + inner < K)[None, :]
            away = tl.load(x_rows + start + inner[None, :], mask=inside, other=0.0).to(tl.float32) - mean[:, None]
            square += tl.sum(tl.where(inside, away * away, 0.0), 1)
        scale = 1 / tl.sqrt(square / K + epsilon)
    sums = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        is_inner = start + inner < K
        inside = is_row[:, None] & is_inner[None, :]
        part = tl.load(x_rows + start + inner[None, :], mask=inside, other=0.0).to(tl.float32)
        if has_norm:
            gain = tl.load(norm_weight + start + inner, mask=is_inner, other=0.0).to(tl.float32)
            shift = tl.load(norm_bias + start + inner, mask=is_inner, other=0.0).to(tl.float32)
            part = (part - mean[:, None]) * scale[:, None] * gain[None, :] + shift[None, :]
        matrix = tl.load(
            weight + columns[:, None] * K + start + inner[None, :],
            mask=is_column[:, None] & is_inner[None, :],
            other=0.0,
        ).to(tl.float32)
        if on_tensor_cores:
            sums += tl.dot(part, tl.trans(matrix), input_precision="tf32x3")
        else:
            sums += tl.sum(part[:, None, :] * matrix[None, :, :], 2)
    if has_bias:
        sums += tl.load(bias + columns, mask=is_column, other=0.0).to(tl.float32)[None, :]
    if activation == "relu":
        sums = tl.maximum(sums, 0.0)
    if activation == "gelu-tanh":
        u = 1.5957691216057308 * (sums + 0.044715 * sums * sums * sums)  # 2 √(2/π) (x + 0.044715 x³)
        sums = sums * (1 - 1 / (tl.exp(u) + 1))  # (1 + tanh(u / 2)) / 2
    offsets = rows[:, None] * N + columns[None, :]
    inside = is_row[:, None] & is_column[None, :]
    if has_residual:
        sums += tl.load(residual + offsets, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + offsets, sums, mask=inside)


def tiles(M: int, N: int, K: int) -> dict[str, int]:
    """Return the block sizes of a product, tuned on an H200."""
    if M <= FEW:
        is_long = K > 256
        BK = min(1024 if is_long else 256, triton.next_power_of_2(K))
        BN = 2 if N <= 16384 else 8  # every block computes the norm again: not too many of them
        return {"BM": triton.next_power_of_2(M), "BN": BN, "BK": BK, "num_warps": 4 if is_long else 1}
    if M >= MANY:
        BM = 64 if triton.cdiv(M, 64) * triton.cdiv(N, 64) > PROCESSORS else 32
        return {"BM": BM, "BN": 64, "BK": 32, "num_warps": 4, "num_stages": 3}
    is_wide = N > 4096 and M > 64
    return {"BM": 64 if is_wide else 16, "BN": 64, "BK": 32 if is_wide else 64, "num_warps": 4, "num_stages": 3}


def fused_linear(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    norm: torch.nn.LayerNorm | None = None,
    activation: str = "none",
    residual: Tensor | None = None,
    is_wide: bool = False,
) -> Tensor:
    """Return residual + activation(norm(x) Wᵀ + b) for rows x (M, K) and a weight (N, K), all of one type.

    The output has the same type, or fp32 with `is_wide`. More than 8 rows must be fp32.
    """
    (M, K), N = x.shape, weight.size(0)
    if M > FEW and x.dtype != torch.float32:
        raise ValueError(f"{M} rows of {x.dtype} are more than {FEW}.")
    out = x.new_empty(M, N, dtype=torch.float32 if is_wide else None)
    sizes = tiles(M, N, K)
    _kernel[(triton.cdiv(N, sizes["BN"]), triton.cdiv(M, sizes["BM"]))](
        x,
        weight,
        x if bias is None else bias,
        x if norm is None else norm.weight,
        x if norm is None else norm.bias,
        x if residual is None else residual,
        out,
        M,
        N,
        0.0 if norm is None else norm.eps,
        K=K,
        has_bias=bias is not None,
        has_norm=norm is not None,
        has_residual=residual is not None,
        activation=activation,
        on_tensor_cores=M > FEW,
        **sizes,
    )
    return out
