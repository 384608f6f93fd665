from types import SimpleNamespace

import pytest
import torch

from regard.nn.kernels import availability
from regard.nn.kernels.availability import can_fuse, constant, product_dtype


def test_products_have_the_type_of_autocast_or_of_their_input():
    x = torch.zeros(2)
    assert product_dtype(x) == torch.float32 and product_dtype(x.half()) == torch.float16
    with torch.autocast("cpu", torch.bfloat16):
        assert product_dtype(x) == product_dtype(x.double()) == torch.bfloat16
    with torch.autocast("cpu", torch.bfloat16, enabled=False):
        assert product_dtype(x) == torch.float32


@pytest.mark.parametrize(
    "is_cuda, dtype, has_gradients, has_compiler, expected",
    [
        (True, torch.bfloat16, True, True, True),
        (True, torch.float16, True, True, True),
        (False, torch.bfloat16, True, True, False),
        (True, torch.float32, True, True, False),
        (True, torch.bfloat16, False, True, False),
        (True, torch.bfloat16, True, False, False),
    ],
)
def test_kernels_need_a_gpu_half_precision_gradients_and_triton(
    monkeypatch, is_cuda, dtype, has_gradients, has_compiler, expected
):
    monkeypatch.setattr(availability, "has_triton", lambda: has_compiler)
    x = SimpleNamespace(is_cuda=is_cuda, dtype=dtype, device=SimpleNamespace(type="cpu"))
    with torch.set_grad_enabled(has_gradients):
        assert can_fuse(x) is expected


def test_a_constant_is_marked_as_torch_marks_it():
    marked = torch.compiler.assume_constant_result(lambda: 1)
    assert vars(constant(lambda: 1)) == vars(marked) != {}


def test_a_cpu_uses_no_kernels():
    assert not can_fuse(torch.zeros(2, requires_grad=True))
