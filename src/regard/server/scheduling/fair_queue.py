"""A fair queue: higher priorities first, and within one each client gets equally much of the work."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from typing import Generic, TypeVar

from regard.server.scheduling.units import AnyUnit, Group

U = TypeVar("U", bound=AnyUnit)
Key = tuple[int, float, int]


class FairQueue(Generic[U]):
    """Units that wait, by group; start-time fair queueing (Goyal et al., 1996) orders them.

    A unit's start is the end of its client's unit before it, or now if the client had nothing waiting: one who sends
    a thousand rows delays nobody else's next row by more than one of them.
    """

    def __init__(self) -> None:
        self._groups: dict[Group, list[tuple[Key, U]]] = {}
        self._ends: dict[str, float] = {}
        self._now = 0.0
        self._order = count()
        self._waiting: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._waiting.total()

    def groups(self) -> list[Group]:
        """Return the groups that wait."""
        return list(self._groups)

    def add(self, unit: U) -> None:
        """Add a unit."""
        start = max(self._now, self._ends.get(unit.client, 0.0))
        self._ends[unit.client] = start + unit.cost
        self._push((-unit.priority, start, next(self._order)), unit)

    def restore(self, unit: U) -> None:
        """Put a unit that was taken back before all others of its priority."""
        self._push((-unit.priority, -1.0, next(self._order)), unit)

    def _push(self, key: Key, unit: U) -> None:
        heapq.heappush(self._groups.setdefault(unit.group, []), (key, unit))
        self._waiting[unit.client] += 1

    def pop(self, fits: Callable[[U], bool]) -> U | None:
        """Return the first unit whose group has room, by `fits` of the first of each group; None: none."""
        for _, unit in sorted(self._heads(), key=lambda head: head[0]):
            if unit.is_cancelled or fits(unit):
                return self._take(unit)
        return None

    def _heads(self) -> Iterator[tuple[Key, U]]:
        return (heap[0] for heap in self._groups.values())

    def _take(self, unit: U) -> U:
        heap = self._groups[unit.group]
        (_, start, _), _ = heapq.heappop(heap)
        if not heap:
            del self._groups[unit.group]
        self._now = max(self._now, start)
        self._waiting[unit.client] -= 1
        if not self._waiting[unit.client]:
            del self._waiting[unit.client]
            if self._ends.get(unit.client, 0.0) <= self._now:
                self._ends.pop(unit.client, None)
        if not self._waiting:  # nobody waits: everybody begins anew
            self._ends.clear()
            self._now = 0.0
        return unit
