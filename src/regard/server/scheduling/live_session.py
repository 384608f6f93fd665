"""A generation session that is never full of one client: units join between two steps, and leave when they end."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from regard.decoding.search.running import RunningRequest
from regard.decoding.session import GenerationSession
from regard.decoding.steppers.interface import Request
from regard.server.errors import RequestError
from regard.server.metrics import Metrics
from regard.server.scheduling.units import Generated, GenerationCall, GenerationUnit, StreamPiece
from regard.server.settings import ServerSettings

if TYPE_CHECKING:
    from regard.pipelines.base import Result

Post = Callable[[GenerationUnit, Callable[..., None], object], None]
"""Has the event loop call a function of a unit with a value."""
MANY, APART = 8, 4
"""A session of so many units takes others only every so many steps, so that their texts are encoded together."""
STEPS = 8
"""Most steps between two looks at what else there is to do."""


def prepare(unit: GenerationUnit, settings: ServerSettings) -> None:
    """Make the request of a unit; a row that is wrong or too long is refused."""
    call, wanted = unit.call, unit.wanted
    request = call.pipeline.request(unit.row, call.options, wanted.number, unit.where)
    if request is not None:
        ids = request.ids if wanted.ids is None else wanted.ids
        seed = getattr(call.options, "seed", None) if wanted.seed is None else wanted.seed
        unit.request = replace(request, ids=ids, seed=seed, alternatives=wanted.alternatives)
        size = tokens_of(call, unit.request)
        if size > settings.max_tokens:
            raise RequestError(
                f"{unit.where} takes {size:,} tokens with all its hypotheses, more than the {settings.max_tokens:,} "
                f"of this server; shorten it, or ask for fewer of them."
            )
    unit.is_prepared = True


def tokens_of(call: GenerationCall, request: Request) -> int:
    """Return the tokens that a request may hold in memory, all hypotheses counted."""
    read, _ = call.pipeline.sizes(call.job, request)
    return (read + request.limit) * call.job.settings.hypotheses


class LiveSession:
    """The units of equal settings that a model works on, and their session."""

    def __init__(
        self, call: GenerationCall, settings: ServerSettings, name: str, metrics: Metrics, most: int
    ) -> None:
        self.call, self.settings, self.name, self.metrics = call, settings, name, metrics
        self.most = most
        """Units that it takes at most: fewer once memory has run out."""
        self.session = GenerationSession(call.job)
        self.units: dict[RunningRequest, GenerationUnit] = {}
        self._since = 0  # steps since units joined

    @property
    def is_idle(self) -> bool:
        """True where nothing is under way."""
        return not self.units

    @property
    def is_open(self) -> bool:
        """True where units may join at the next step, if memory allows."""
        count = len(self.units)
        return count < self.most and (count < MANY or self._since >= APART)

    def has_room(self, unit: GenerationUnit, joining: Sequence[GenerationUnit] = ()) -> bool:
        """Return whether a unit may join beside those already there or joining."""
        count = len(self.units) + len(joining)
        if not count or unit.request is None:
            return True
        if count >= self.most or not self.is_open:
            return False
        requests = [each.request for each in (*self.units.values(), *joining) if each.request is not None]
        longest = max(tokens_of(self.call, each) for each in (*requests, unit.request))
        return (count + 1) * longest <= self.settings.max_tokens

    def admit(self, units: Sequence[GenerationUnit]) -> None:
        """Let units join at the next step."""
        for is_streamed in (False, True):
            chosen = [each for each in units if each.wanted.is_streamed is is_streamed]
            requests = [each.request for each in chosen if each.request is not None]
            self.units |= zip(self.session.admit(requests, is_streamed), chosen, strict=True)
        self._since, now = 0, time.monotonic()
        for each in units:
            self.metrics.queue.labels(self.name).observe(now - each.arrived)
        self.metrics.prompt_tokens.labels(self.name).inc(sum(len(each.request.ids) for each in units if each.request))

    def drop_cancelled(self) -> list[GenerationUnit]:
        """Let the units that nobody waits for leave, and return them."""
        dropped = [(running, unit) for running, unit in self.units.items() if unit.is_cancelled]
        for running, _ in dropped:
            self.session.cancel(running)
            del self.units[running]
        return [unit for _, unit in dropped]

    def work(self, post: Post, is_wanted_elsewhere: Callable[[], bool], flush: Callable[[], None]) -> None:
        """Take some steps; stop early when there is something else to do."""
        with self.call.pipeline.locked(), self.call.job.working(len(self.units)):
            for _ in range(STEPS):
                before = time.perf_counter()
                self.session.step()
                self._since += 1
                self._deliver(post)
                flush()
                self.metrics.between_tokens.labels(self.name).observe(time.perf_counter() - before)
                if self.is_idle or is_wanted_elsewhere():
                    return

    def _deliver(self, post: Post) -> None:
        """Send new text and the results of those that are done."""
        done, now = [], time.monotonic()
        self.metrics.generation_tokens.labels(self.name).inc(len(self.units))
        for running, unit in self.units.items():
            if not unit.has_begun:
                unit.has_begun = True
                self.metrics.first_token.labels(self.name).observe(now - unit.arrived)
            if unit.wanted.is_streamed and (running.chunk or unit.wanted.alternatives):
                post(unit, unit.add, StreamPiece(running.chunk, list(running.tokens)))
                running.tokens.clear()
            if running.is_done:
                done.append(running)
        for running in done:
            unit = self.units[running]
            post(unit, unit.succeed, self._generated(unit, running))
            del self.units[running]  # only now: whoever fails above is still there to be told
            self.metrics.end_to_end.labels(self.name).observe(now - unit.arrived)
        self.metrics.finished.labels(self.name).inc(len(done))

    def _generated(self, unit: GenerationUnit, running: RunningRequest) -> Generated:
        call = unit.call
        result: Result = call.pipeline.result(unit.row, call.options, call.job, unit.request, running.hypotheses)
        return Generated(result, unit.request, running.hypotheses, tuple(running.tokens))
