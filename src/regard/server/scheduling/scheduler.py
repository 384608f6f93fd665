"""The scheduler of a model: one thread that works on the rows of all clients in fair order, batched as they come."""

import asyncio
import logging
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable

from regard.cancellation import cancellable
from regard.errors import RegardError
from regard.nn.inference.memory import is_out_of_memory, release_memory
from regard.server.errors import Overloaded
from regard.server.metrics import Metrics
from regard.server.scheduling.batches import RowBatch
from regard.server.scheduling.fair_queue import FairQueue
from regard.server.scheduling.live_session import LiveSession, prepare
from regard.server.scheduling.units import AnyUnit, FunctionUnit, Generated, GenerationUnit, Group, RowUnit
from regard.server.settings import ServerSettings

LOG = logging.getLogger("regard.server")
LINGER = 5.0
"""Seconds that the thread of a retired model waits for more."""


class Scheduler:
    """The queue of a model and the thread that works on it; made and used in the event loop."""

    def __init__(self, name: str, settings: ServerSettings, metrics: Metrics) -> None:
        self.name, self.settings, self.metrics = name, settings, metrics
        self._lock = threading.Condition()
        self._inbox: list[AnyUnit] = []
        self._has_news = self._is_urgent = False
        self._thread: threading.Thread | None = None
        self._is_retired = False
        self._unfinished: Counter[str] = Counter()  # units by client
        self._units: set[AnyUnit] = set()
        self._started: set[AnyUnit] = set()
        # Of the thread alone:
        self._queue: FairQueue[AnyUnit] = FairQueue()
        self._sessions: dict[Group, LiveSession] = {}
        self._limits: dict[Hashable, int] = {}
        self._outbox: dict[asyncio.AbstractEventLoop, list[tuple[Callable[..., None], object]]] = defaultdict(list)

    @property
    def is_idle(self) -> bool:
        """True where nothing waits or runs."""
        return not self._unfinished

    @property
    def waiting(self) -> int:
        """Units that have not begun."""
        return self._unfinished.total() - len(self._started)

    def submit(self, unit: AnyUnit) -> None:
        """Queue a unit; one beyond the limits is refused, to be sent again later."""
        limit = self.settings.max_waiting
        if self.waiting >= limit or self._unfinished[unit.client] >= limit // 2 + self.settings.max_running:
            raise Overloaded(
                f"{self.waiting:,} rows wait for this model already; send this one again later.",
                retry_after=self._retry_after(),
            )
        self._unfinished[unit.client] += 1
        self._units.add(unit)
        unit.future.add_done_callback(lambda future: self._forget(unit, future.cancelled()))
        self.metrics.waiting.labels(self.name).set(self.waiting)
        with self._lock:
            self._inbox.append(unit)
            self._has_news = True
            self._is_urgent |= not isinstance(unit, GenerationUnit)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=f"model-{self.name}", daemon=True)
                self._thread.start()
            self._lock.notify()

    def retire(self) -> None:
        """Let the thread end once nothing is left to do."""
        with self._lock:
            self._is_retired = True
            self._lock.notify()

    def _retry_after(self) -> int:
        """Return the seconds after which a queue this long has gone down, as a guess."""
        return max(1, min(30, self.waiting // 100))

    def _forget(self, unit: AnyUnit, was_cancelled: bool) -> None:
        """Count a unit that ended; one that nobody waits for any more leaves at the next step."""
        self._unfinished[unit.client] -= 1
        if not self._unfinished[unit.client]:
            del self._unfinished[unit.client]
        self._units.discard(unit)
        self._started.discard(unit)
        if was_cancelled:
            unit.is_cancelled = True
            self.metrics.cancelled.labels(self.name).inc()
            with self._lock:
                self._has_news = self._is_urgent = True
                self._lock.notify()
        self._gauge()

    def _start(self, unit: AnyUnit) -> None:
        if not unit.future.done():
            self._started.add(unit)
        self._gauge()

    def _gauge(self) -> None:
        self.metrics.waiting.labels(self.name).set(self.waiting)
        self.metrics.running.labels(self.name).set(len(self._started))

    def _work(self) -> None:
        """Work in rounds until the model is retired (the thread)."""
        while self._take_news():
            try:
                self._round()
            except Exception:  # of the scheduler itself: whoever waits must hear of it
                LOG.exception("%s: the scheduler failed", self.name)
                loops = {unit.loop for unit in list(self._units)}
                self._queue, self._sessions = FairQueue(), {}
                for loop in loops:
                    self._outbox[loop].append((self._fail_all, loop))
            self._flush()

    def _take_news(self) -> bool:
        """Wait until there is something to do; False: the thread ends."""
        with self._lock:
            while not (self._inbox or self._queue or self._sessions):
                if not self._lock.wait(LINGER if self._is_retired else None) and self._is_retired:
                    self._thread = None
                    return False
            taken, self._inbox, self._has_news, self._is_urgent = self._inbox, [], False, False
        for unit in taken:
            self._queue.add(unit)
        return True

    def _round(self) -> None:
        """Admit what there is room for; then a function, a batch of rows, and some steps of each session."""
        for session in self._sessions.values():
            session.drop_cancelled()
        functions: list[FunctionUnit[object]] = []
        batch, joining = RowBatch(self.settings), defaultdict[Group, list[GenerationUnit]](list)

        def fits(unit: AnyUnit) -> bool:
            if isinstance(unit, GenerationUnit):
                return self._has_room(unit, joining[unit.group])
            return batch.has_room(unit) if isinstance(unit, RowUnit) else not functions

        while (unit := self._queue.pop(fits)) is not None:
            if unit.is_cancelled:
                continue
            if isinstance(unit, GenerationUnit):
                self._place(unit, joining[unit.group])
            elif isinstance(unit, RowUnit):
                batch.add(unit)
            elif isinstance(unit, FunctionUnit):
                functions.append(unit)
            self._post(unit, self._start, unit)
        self._flush()
        for group, units in joining.items():
            if units:
                self._sessions[group].admit(units)
        for function in functions:
            self._call(function)
        if batch.units:
            batch.work(self._post, self.name, self.metrics, self._queue.restore)
        self._flush()
        for group, session in list(self._sessions.items()):
            if not session.is_idle:
                self._step(group, session)
            if session.is_idle:
                self._sessions.pop(group, None)

    def _has_room(self, unit: GenerationUnit, joining: list[GenerationUnit]) -> bool:
        """Return whether a unit may join its session; one that cannot be prepared has room to fail."""
        session = self._sessions.get(unit.group)
        if session is None:
            return len(self._sessions) < self.settings.max_sessions
        if not unit.is_prepared:
            try:
                prepare(unit, self.settings)
            except Exception:
                return True
        return session.has_room(unit, joining)

    def _place(self, unit: GenerationUnit, joining: list[GenerationUnit]) -> None:
        """Let a unit join its session, which may be new; one without a request is answered, a wrong one refused."""
        call = unit.call
        try:
            if not unit.is_prepared:
                prepare(unit, self.settings)
            if unit.request is None:
                result = call.pipeline.result(unit.row, call.options, call.job, None, ())
                self._post(unit, unit.succeed, Generated(result, None, ()))
                return
            if unit.group not in self._sessions:
                most = self._limits.get(call.key, self.settings.max_running)
                self._sessions[unit.group] = LiveSession(call, self.settings, self.name, self.metrics, most)
        except Exception as error:
            self._refuse(unit, error)
            return
        joining.append(unit)

    def _call(self, unit: FunctionUnit[object]) -> None:
        try:
            with cancellable(lambda: unit.is_cancelled):
                self._post(unit, unit.succeed, unit.function())
        except Exception as error:
            self._post(unit, unit.fail, error)

    def _step(self, group: Group, session: LiveSession) -> None:
        """Take steps of a session; where they fail, its units are tried again, apart or fewer at a time."""
        has_others = len(self._sessions) > 1 or any(group[0] != "texts" for group in self._queue.groups())
        is_waited_for = lambda: session.is_open and (self._has_news or len(self._queue) > 0)
        try:
            session.work(self._post, lambda: has_others or self._is_urgent or is_waited_for(), self._flush)
            return
        except Exception as error:
            problem = error
        del self._sessions[group]
        units = list(session.units.values())
        session.units.clear()
        is_memory = is_out_of_memory(problem)
        if is_memory:
            release_memory(session.call.pipeline.device)
            self._limits[session.call.key] = max(1, len(units) // 2)
        for unit in units:
            if len(units) == 1 or (unit.has_begun and unit.wanted.is_streamed):
                self._refuse(unit, problem)
                continue
            if not is_memory:
                unit.alone()
            self._queue.restore(unit)

    def _refuse(self, unit: AnyUnit, error: Exception) -> None:
        if not isinstance(error, RegardError):
            LOG.error("%s: a request failed", self.name, exc_info=error)
        self._post(unit, unit.fail, error)

    def _fail_all(self, loop: asyncio.AbstractEventLoop) -> None:
        for unit in [each for each in self._units if each.loop is loop]:
            unit.fail(RuntimeError("the scheduler failed"))

    def _post(self, unit: AnyUnit, function: Callable[..., None], value: object) -> None:
        """Have the event loop of a unit call a function with a value, at the next flush."""
        self._outbox[unit.loop].append((function, value))

    def _flush(self) -> None:
        """Hand what was posted to the event loops: one wake-up for all that is ready together."""
        for loop, calls in self._outbox.items():
            if not loop.is_closed():
                loop.call_soon_threadsafe(_call_all, calls)
        self._outbox.clear()


def _call_all(calls: list[tuple[Callable[..., None], object]]) -> None:
    for function, value in calls:
        function(value)
