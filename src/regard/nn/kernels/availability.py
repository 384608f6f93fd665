"""Availability of the Triton kernels: device, precision and compiler."""

from importlib.util import find_spec

import torch
from torch import Tensor

HALVES = (torch.bfloat16, torch.float16)
"""The half-precision types."""


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def has_triton() -> bool:
    """Return True if Triton is installed, which comes with torch for CUDA."""
    return find_spec("triton") is not None


def product_dtype(x: Tensor) -> torch.dtype:
    """Return the dtype of a product with x: autocast's, or that of x."""
    kind = x.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else x.dtype


def can_fuse(x: Tensor) -> bool:
    """Return True if the fused kernels apply to a product with x: in training, in half precision on a GPU."""
    return x.is_cuda and torch.is_grad_enabled() and product_dtype(x) in HALVES and has_triton()
