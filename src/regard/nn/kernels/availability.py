"""Availability of the Triton kernels: device, precision and compiler."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import TypeVar

import torch
from torch import Tensor

F = TypeVar("F", bound=Callable[..., object])

HALVES = (torch.bfloat16, torch.float16)
"""The half-precision types."""


def constant(function: F) -> F:
    """Mark a function for `torch.compile` as one whose result never changes; without this it breaks the graph.

    `torch.compiler.assume_constant_result` does the same, but loads the compiler: half of what `import regard` loads.
    """
    function._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return function


@constant
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
