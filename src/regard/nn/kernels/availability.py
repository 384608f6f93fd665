"""Whether kernels of our own can do the work."""

from importlib.util import find_spec

import torch
from torch import Tensor

HALVES = (torch.bfloat16, torch.float16)
"""Numbers that kernels for half precision work with."""


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def has_triton() -> bool:
    """Tell whether the compiler is there that comes along with torch for CUDA."""
    return find_spec("triton") is not None


def product_dtype(x: Tensor) -> torch.dtype:
    """Return the kind of number that a product with x is made of: the one autocast asks for, or that of x."""
    kind = x.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else x.dtype


def can_fuse(x: Tensor) -> bool:
    """Tell whether kernels of ours do the work behind a product with x: for gradients, in half precision on a GPU."""
    return x.is_cuda and torch.is_grad_enabled() and product_dtype(x) in HALVES and has_triton()
