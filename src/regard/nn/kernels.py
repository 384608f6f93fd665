"""Whether kernels of our own can do the work."""

from importlib.util import find_spec

import torch

HALVES = (torch.bfloat16, torch.float16)
"""Numbers that kernels for half precision work with."""


@torch.compiler.assume_constant_result  # type: ignore[untyped-decorator]
def has_triton() -> bool:
    """Tell whether the compiler is there that comes along with torch for CUDA."""
    return find_spec("triton") is not None
