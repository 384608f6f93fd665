"""Prefetching: a background thread prepares batches while the GPU computes."""

import queue
import threading
from collections.abc import Iterator
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Prefetcher(Generic[Item]):
    """An iterator that a background thread keeps up to `count` items ahead; `close` stops the thread."""

    def __init__(self, items: Iterator[Item], count: int) -> None:
        self._items = items
        self._ready: queue.Queue[tuple[Item | None, BaseException | None]] = queue.Queue(count)
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._make, name="ahead", daemon=True)
        self._thread.start()

    def _make(self) -> None:
        try:
            for item in self._items:
                self._put(item, None)
                if self._is_closed.is_set():
                    return
            self._put(None, StopIteration())
        except BaseException as error:
            self._put(None, error)  # re-raised in the consuming thread

    def _put(self, item: Item | None, error: BaseException | None) -> None:
        while not self._is_closed.is_set():
            try:
                self._ready.put((item, error), timeout=0.1)
            except queue.Full:
                continue
            return

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        item, error = self._ready.get()
        if error is not None:
            self._is_closed.set()
            self._ready.put((None, error))  # raised again on every later call
            raise error
        assert item is not None
        return item

    def close(self) -> None:
        """Stop the background thread and wait for it to end."""
        self._is_closed.set()
        self._thread.join()
