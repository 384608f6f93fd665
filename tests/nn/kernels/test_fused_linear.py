"""Linear layers fused with norm, activation and residual: on a CUDA device, or interpreted where Triton has none."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from own_kernels import failure, needs_kernels


def check(rows):
    from regard.nn.kernels.fused_linear import fused_linear

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(1)
    x, weight = torch.randn(rows, 24, device=device), torch.randn(70, 24, device=device)
    bias, residual = torch.randn(70, device=device), torch.randn(rows, 70, device=device)
    norm = nn.LayerNorm(24, device=device)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    with torch.inference_mode():
        plain = fused_linear(x, weight)
        whole = fused_linear(x, weight, bias, norm, "relu", residual)
    assert_close(plain, x @ weight.T, atol=1e-4, rtol=1e-4)
    assert_close(whole, residual + F.relu(F.linear(norm(x), weight, bias)), atol=1e-4, rtol=1e-4)


def check_few():
    check(3)


def check_some():
    check(40)


def check_many():
    check(800)


def check_refusals():
    from regard.nn.kernels.fused_linear import fused_linear, tiles

    with pytest.raises(ValueError, match=r"^9 rows of torch.bfloat16 are more than 8.$"):
        fused_linear(torch.zeros(9, 4, dtype=torch.bfloat16), torch.zeros(2, 4, dtype=torch.bfloat16))
    for rows in (1, 5, 8, 9, 100, 768, 5000):
        for outputs, inputs in ((16, 16), (512, 512), (2048, 512), (50_304, 768)):
            sizes = tiles(rows, outputs, inputs)
            assert all(sizes[name] & (sizes[name] - 1) == 0 for name in ("BM", "BN", "BK"))  # Triton needs powers
            assert rows > 8 or sizes["BM"] >= rows  # few rows are one block


@needs_kernels
@pytest.mark.parametrize("case", [check_few, check_some, check_many])
def test_a_fused_layer_equals_its_parts(case):
    assert failure(case) == ""


@needs_kernels
def test_blocks_are_powers_of_two_and_many_rows_must_be_fp32():
    assert failure(check_refusals) == ""
