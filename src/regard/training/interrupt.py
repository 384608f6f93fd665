"""Interrupt handling: Ctrl-C and SIGTERM stop training after the current update, with a checkpoint."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def catching_interrupts() -> Iterator[list[int]]:
    """Yield a list that gets the first signal when a stop is requested; a second Ctrl-C stops at once."""
    if threading.current_thread() is not threading.main_thread():
        yield []  # only the main thread receives signals
        return
    received: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(number)

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
