"""Ctrl-C as a wish to stop at the next safe place, and not as a crash."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def catching_interrupts() -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether a stop was asked for; a second Ctrl-C stops at once."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False  # only the main thread receives signals
        return
    asked: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    before = {number: signal.signal(number, remember) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
