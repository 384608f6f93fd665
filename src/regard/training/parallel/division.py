"""Division of what is computed for many rows among processes: each computes some, all have the results of all.

Batches are those of one process, so each has the same results, and what is summed in their order is equal to the bit.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from regard.config.parsing import parse_json
from regard.nn.inference.memory import is_out_of_memory
from regard.training.parallel.process_group import ProcessGroup

T = TypeVar("T")
Array = NDArray[np.float64]

_team = ProcessGroup()


@contextmanager
def divided(team: ProcessGroup) -> Iterator[None]:
    """Divide what `map_arrays` and `map_texts` compute among processes, all of which call them alike."""
    global _team
    before, _team = _team, team
    try:
        yield
    finally:
        _team = before


def map_arrays(items: Iterable[T], compute: Callable[[T], Array]) -> list[Array]:
    """Return an array (n,) for each item, in order; of n processes each computes every n-th."""
    if _team.size == 1:
        return [compute(item) for item in items]
    count, own = 0, list[Array]()
    with _agreed():
        for count, item in enumerate(items, 1):
            if (count - 1) % _team.data_size == _team.data_rank:
                own.append(np.asarray(compute(item), np.float64))
    sizes = _gather(np.array([len(each) for each in own], np.int64))
    values = _gather(np.concatenate([*own, np.zeros(0)]))
    parts = [
        iter(np.split(each, np.cumsum(lengths)[:-1])) for each, lengths in zip(values, sizes, strict=True)
    ]  # an empty share is never asked
    return [next(parts[number % _team.data_size]) for number in range(count)]


def map_texts(rows: Sequence[T], compute: Callable[[Sequence[T]], Sequence[str]]) -> list[str]:
    """Return a text for each row, in order; each process computes those of a slice, which may be empty."""
    if _team.size == 1:
        return list(compute(rows))
    bounds = [len(rows) * rank // _team.data_size for rank in range(_team.data_size + 1)]
    some = rows[bounds[_team.data_rank] : bounds[_team.data_rank + 1]]
    with _agreed():
        own = list(compute(some)) if len(some) else []
    shares = _team.gather(json.dumps(own))[:: _team.tensor_parallel]
    return [text for share in shares for text in parse_json(share)]


@contextmanager
def _agreed() -> Iterator[None]:
    """Raise the error of memory that ran out in all processes, so that all try again with smaller batches."""
    error: Exception | None = None
    try:
        yield
    except (RuntimeError, MemoryError) as raised:
        if not is_out_of_memory(raised):
            raise
        error = raised.with_traceback(None)
    if _team.agree(error is not None, torch.device("cpu")):
        raise error or MemoryError("out of memory in another process")


def _gather(own: NDArray[np.generic]) -> list[NDArray[np.generic]]:
    """Return the arrays of all processes that compute different rows."""
    data = _team.gather_bytes(own.tobytes())[:: _team.tensor_parallel]
    return [np.frombuffer(each, own.dtype) for each in data]
