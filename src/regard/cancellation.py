"""Cancellation of work that nobody waits for any more: long work asks between two steps, and ends."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_is_cancelled: ContextVar[Callable[[], bool]] = ContextVar("is_cancelled", default=lambda: False)


class Cancelled(Exception):
    """Nobody waits for this work any more."""


@contextmanager
def cancellable(is_cancelled: Callable[[], bool]) -> Iterator[None]:
    """Let the work of a `with` block end once a function, which is called between its steps, returns True."""
    token = _is_cancelled.set(is_cancelled)
    try:
        yield
    finally:
        _is_cancelled.reset(token)


def end_if_cancelled() -> None:
    """Raise `Cancelled` where nobody waits for the work around this call; called once a step."""
    if _is_cancelled.get()():
        raise Cancelled
