"""Products with all around them in one kernel: on a CUDA device, or interpreted where there is only the compiler."""

import pytest

from own_kernels import complaint, needs_kernels

CODE = """
import torch
from torch.nn import functional as F
from regard.nn.kernels.fused_linear import fused_linear

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(1)
x, weight = torch.randn(ROWS, 24, device=device), torch.randn(70, 24, device=device)
bias, residual = torch.randn(70, device=device), torch.randn(ROWS, 70, device=device)
norm = torch.nn.LayerNorm(24, device=device)
torch.nn.init.normal_(norm.weight)
torch.nn.init.normal_(norm.bias)
with torch.inference_mode():
    plain = fused_linear(x, weight)
    whole = fused_linear(x, weight, bias, norm, "relu", residual)
torch.testing.assert_close(plain, x @ weight.T, atol=1e-4, rtol=1e-4)
torch.testing.assert_close(whole, residual + F.relu(F.linear(norm(x), weight, bias)), atol=1e-4, rtol=1e-4)
"""


@needs_kernels
@pytest.mark.parametrize("rows", [3, 40, 800])  # few, some, many
def test_a_product_and_all_around_it(rows):
    assert complaint(CODE.replace("ROWS", str(rows))) == ""
