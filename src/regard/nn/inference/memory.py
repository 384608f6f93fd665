"""Telling that memory ran out, and giving back what lies idle."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch

Found = TypeVar("Found")

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


@contextmanager
def gc_paused() -> Iterator[None]:
    """Leave garbage where it is: a CUDA graph that goes away while another is recorded spoils the recording."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def retry_smaller(attempt: Callable[[int], Found], limit: int, least: int, device: torch.device) -> Found:
    """Return what an attempt gives with so many tokens at once, or half as many whenever memory runs out."""
    while True:
        try:
            return attempt(limit)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error) or limit <= least:
                raise
        release_memory(device)  # outside the handler, which would keep alive what the attempt held
        limit //= 2
