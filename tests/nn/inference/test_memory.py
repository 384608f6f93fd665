import gc

import pytest
import torch

from regard.nn.inference.memory import gc_paused, is_out_of_memory, release_memory, retry_smaller

CPU = torch.device("cpu")


def test_out_of_memory_errors_are_recognized_by_type_or_message():
    for error in (
        torch.OutOfMemoryError("x"),
        MemoryError(),
        RuntimeError("CUDA error: out of memory"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
        RuntimeError("CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate"),
    ):
        assert is_out_of_memory(error)
    assert not is_out_of_memory(RuntimeError("shapes differ")) and not is_out_of_memory(ValueError("out of memory"))


def test_attempts_are_halved_until_they_fit():
    limits = []

    def attempt(limit):
        limits.append(limit)
        if limit > 30:
            raise MemoryError
        return f"done with {limit}"

    assert retry_smaller(attempt, 100, 10, CPU) == "done with 25" and limits == [100, 50, 25]


def test_the_smallest_attempt_and_other_errors_are_raised():
    limits = []

    def attempt(limit):
        limits.append(limit)
        raise MemoryError

    with pytest.raises(MemoryError):
        retry_smaller(attempt, 100, 40, CPU)
    assert limits == [100, 50, 25]  # 50 is above the least, 25 is not

    def wrong(limit):
        raise RuntimeError("shapes differ")

    with pytest.raises(RuntimeError, match="shapes differ"):
        retry_smaller(wrong, 100, 10, CPU)


def test_garbage_collection_pauses_and_resumes_as_it_was():
    assert gc.isenabled()
    with pytest.raises(KeyError), gc_paused():
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled()
    gc.disable()
    try:
        with gc_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_releasing_memory_of_a_cpu_does_nothing():
    release_memory(CPU)
