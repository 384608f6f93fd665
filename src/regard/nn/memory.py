"""Telling that memory ran out, and giving back what lies idle."""

import torch

SAYINGS = (
    "out of memory",  # CUDA, in several spellings
    "CUBLAS_STATUS_ALLOC_FAILED",
    "can't allocate memory",  # the CPU
    "not enough memory",
)


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an error means that memory ran out; not every backend has a type for it."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(saying in str(error) for saying in SAYINGS)


def release_memory(device: torch.device) -> None:
    """Give back what a failed attempt still holds."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
