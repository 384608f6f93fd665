"""Out-of-memory handling: detection across backends, release of cached memory, retries with smaller batches."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch

Result = TypeVar("Result")

MESSAGES = (
    "out of memory",  # CUDA, in several spellings
    "CUBLAS_STATUS_ALLOC_FAILED",
    "can't allocate memory",  # the CPU
    "not enough memory",
)


def is_out_of_memory(error: BaseException) -> bool:
    """Return True if an error is an out-of-memory error; not every backend has a type for it."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(message in str(error) for message in MESSAGES)


def release_memory(device: torch.device) -> None:
    """Release the memory cached on a CUDA device."""
    if device.type == "cuda":
        torch.cuda.empty_cache()


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause garbage collection: a CUDA graph that is freed while another is captured invalidates the capture."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def retry_smaller(attempt: Callable[[int], Result], limit: int, least: int, device: torch.device) -> Result:
    """Return the result of an attempt with `limit` tokens at once, halved after each out-of-memory error."""
    while True:
        try:
            return attempt(limit)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error) or limit <= least:
                raise
        release_memory(device)  # outside the handler, which would keep the attempt's tensors alive
        limit //= 2
