"""Products with all around them in one kernel: on a CUDA device, or interpreted where there is only the compiler."""

import pytest

from own_kernels import complaint, needs_kernels

CODE = """
import torch
from torch.nn import functional as F
from regard.nn.rows_kernel import rows_linear

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(1)
kind, error = (torch.float32, 1e-4) if "KIND" == "fp32" else (torch.float16, 0.02)
make = lambda *shape: torch.randn(*shape, device=device).to(kind)
x, weight, bias, residual = make(ROWS, 24), make(70, 24), make(70), make(ROWS, 70)
norm = torch.nn.LayerNorm(24, device=device, dtype=kind)
torch.nn.init.normal_(norm.weight)
torch.nn.init.normal_(norm.bias)
with torch.inference_mode():
    plain = rows_linear(x, weight)
    whole = rows_linear(x, weight, bias, norm, "relu", residual)
    wide = norm.float()(x.float())
expected = residual.float() + F.relu(F.linear(wide, weight.float(), bias.float()))
torch.testing.assert_close(plain.float(), x.float() @ weight.float().T, atol=error, rtol=error)
torch.testing.assert_close(whole.float(), expected, atol=error, rtol=error)
assert plain.dtype == whole.dtype == kind
"""


@needs_kernels
@pytest.mark.parametrize("kind", ["fp32", "half"])
@pytest.mark.parametrize("rows", [3, 40, 800])  # few, some, many
def test_a_product_and_all_around_it(rows, kind):
    assert complaint(CODE.replace("ROWS", str(rows)).replace("KIND", kind)) == ""
