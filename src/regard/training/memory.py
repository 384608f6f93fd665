"""What to do when memory runs out: compute less at once, and learn from the same examples."""

import torch

from regard.data.feed import Update
from regard.errors import RunError

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


def smaller_limit(update: Update, step: int) -> int:
    """Return a limit on micro-batches under which the update is cut further."""
    if update.divisible == 0:
        raise RunError(
            f"step {step}: memory runs out on a single example; lower data.cleaning.max_tokens, or choose a smaller "
            f"model."
        )
    return max(1, update.divisible // 2)


def release_memory(device: torch.device) -> None:
    """Give back what the failed attempt still holds."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
