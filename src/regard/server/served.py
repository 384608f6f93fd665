"""A served model: its pipelines by operation, and the scheduler through which all work on it happens."""

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Hashable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from regard import registry
from regard.models.families import family
from regard.pipelines.base import AnyPipeline, Options, Result
from regard.pipelines.generation import GeneratingPipeline
from regard.server.errors import RequestError
from regard.server.guard import Asker
from regard.server.metrics import Metrics
from regard.server.scheduling.scheduler import Scheduler
from regard.server.scheduling.units import (
    FunctionUnit,
    Generated,
    GenerationCall,
    GenerationUnit,
    PipelineCall,
    RowUnit,
    StreamPiece,
    Unit,
    Wanted,
)
from regard.server.settings import ServerSettings
from regard.tasks.contract import AnyTask, find_task

if TYPE_CHECKING:
    from regard.tasks.declarations import Operation

P = ParamSpec("P")
T = TypeVar("T")
EACH_ITS_OWN = frozenset(
    {"max_new_tokens", "seed", "max_length", "max_length_ratio", "max_length_extra", "max_source_length"}
)
"""Decoding settings that are in each request, so that requests with different ones share a session."""
REMEMBERED = 256
"""Options that are kept resolved."""


class ServedModel:
    """A loaded model with its scheduler."""

    def __init__(
        self, name: str, path: str, pipeline: AnyPipeline, settings: ServerSettings, metrics: Metrics
    ) -> None:
        self.name, self.path, self.pipeline, self.settings = name, path, pipeline, settings
        self.scheduler = Scheduler(name, settings, metrics)
        self._calls: OrderedDict[Hashable, PipelineCall] = OrderedDict()
        self._pipelines: dict[str, AnyPipeline] = {}

    @classmethod
    async def load(cls, name: str, path: str, settings: ServerSettings, metrics: Metrics) -> "ServedModel":
        """Return the model at a path, loaded in a thread."""
        return cls(name, path, await asyncio.to_thread(_load, path, settings), settings, metrics)

    @property
    def task(self) -> AnyTask:
        """Its task."""
        return find_task(self.pipeline.task)

    @cached_property
    def operations(self) -> "dict[str, Operation]":
        """Its operations, by the last word of the verb; a model with a text encoder also embeds."""
        own = {each.name.split()[-1]: each for each in self.task.operations}
        if not hasattr(self.pipeline, "bundle") or family(self.pipeline.bundle.settings.family).kind not in ENCODERS:
            return own
        kind = family(self.pipeline.bundle.settings.family).kind
        tasks = [task for task in registry.TASKS if kind in task.files.kinds]
        every = [each for task in tasks for each in task.operations if each.takes_encoders or each.wraps is not None]
        return {each.name: each for each in every} | own

    @property
    def is_idle(self) -> bool:
        """True where nothing waits or runs."""
        return self.scheduler.is_idle

    def operation(self, name: str) -> "Operation":
        """Return an operation; one that the model does not offer is refused."""
        if name not in self.operations:
            known = ", ".join(self.operations)
            raise RequestError(
                f'"{self.name}" is {self.task.wording.noun}, which does not {name}; it offers: {known}.', "model"
            )
        return self.operations[name]

    def for_protocol(self, protocol: str) -> "Operation":
        """Return the operation that answers a route of another server; a model that has none is refused."""
        answering = [each for each in self.operations.values() if protocol in each.protocols]
        if not answering:
            kind = protocol.partition(":")[2]
            noun = self.task.wording.noun
            raise RequestError(f'"{self.name}" is {noun}, which gives no {kind}; choose another model.', "model")
        return answering[0]

    def call(self, operation: "Operation", given: Mapping[str, object]) -> PipelineCall:
        """Return an operation with the options of a request; wrong ones are refused in a sentence."""
        known = (operation.name, json.dumps(given, sort_keys=True, default=str))
        if known not in self._calls:
            self._calls[known] = self._new_call(operation, given)
            while len(self._calls) > REMEMBERED:
                self._calls.popitem(last=False)
        self._calls.move_to_end(known)
        return self._calls[known]

    async def run(self, function: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
        """Return what a function returns, called in the model's thread."""
        unit: FunctionUnit[T] = FunctionUnit(partial(function, *args, **named))
        self.scheduler.submit(unit)
        return await unit.future

    async def results(self, call: PipelineCall, rows: Sequence[object], asker: Asker | None = None) -> list[Result]:
        """Return the results of rows, in order; a cancelled caller's rows leave at the next step."""
        if isinstance(call, GenerationCall):
            wanted = [Wanted(number) for number in range(1, len(rows) + 1)]
            return [each.result for each in await self.generate(call, rows, wanted, asker)]
        where = _names(rows)
        units = [RowUnit(call, row, origin, asker) for row, origin in zip(rows, where, strict=True)]
        return await self._finished(units)

    async def generate(
        self, call: GenerationCall, rows: Sequence[object], wanted: Sequence[Wanted], asker: Asker | None = None
    ) -> list[Generated]:
        """Return what is generated for rows, in order."""
        parts = zip(rows, _names(rows), wanted, strict=True)
        return await self._finished([GenerationUnit(call, row, origin, asker, each) for row, origin, each in parts])

    async def stream(
        self, call: GenerationCall, row: object, wanted: Wanted, asker: Asker | None = None
    ) -> AsyncIterator[StreamPiece | Generated]:
        """Yield the parts of a text as they are generated, what is ready together as one; at last the whole."""
        unit = GenerationUnit(call, row, "row 1", asker, wanted)
        self.scheduler.submit(unit)
        try:
            while (piece := await unit.next_piece()) is not None:
                yield piece
            yield unit.future.result()
        finally:
            unit.future.cancel()

    async def _finished(self, units: Sequence[Unit[T]]) -> list[T]:
        try:
            for unit in units:
                self.scheduler.submit(unit)
            return [await unit.future for unit in units]
        finally:
            for unit in units:
                unit.future.cancel()

    def retire(self) -> None:
        """Let the thread end once nothing is left to do; whoever still holds the model may use it all the same."""
        self.scheduler.retire()

    def _new_call(self, operation: "Operation", given: Mapping[str, object]) -> PipelineCall:
        pipeline = self._pipeline(operation)
        options = pipeline.options(None, **given)
        key = (operation.name, options.model_dump_json())
        if not isinstance(pipeline, GeneratingPipeline):
            return PipelineCall(pipeline, options, key)
        job = pipeline.job(options)
        if not job.is_stepwise:
            return PipelineCall(pipeline, options, key)
        self._check_sizes(options)
        shared = (operation.name, job.settings.model_dump_json(exclude=set(EACH_ITS_OWN)), job.window)
        return GenerationCall(pipeline, options, shared, job)

    def _check_sizes(self, options: Options) -> None:
        """Refuse more tokens than this server generates for a request."""
        wanted = getattr(options, "max_new_tokens", 0)
        if wanted > self.settings.max_new_tokens:
            limit = self.settings.max_new_tokens
            raise RequestError(
                f"max_new_tokens: {wanted:,} is more than the {limit:,} of this server; ask for fewer."
            )

    def _pipeline(self, operation: "Operation") -> AnyPipeline:
        if operation.name not in self._pipelines:
            model = self.pipeline
            if operation.takes_encoders:
                from regard.pipelines.encoder import Encoder
                from regard.tasks.load import encoder_of

                model = model if isinstance(model, Encoder) else encoder_of(model.bundle, self.path)
            self._pipelines[operation.name] = operation.pipeline(model)
        return self._pipelines[operation.name]


ENCODERS = ("encoder", "bidirectional-lm")
"""Kinds of models that embed texts."""


def _names(rows: Sequence[object]) -> list[str]:
    return ["The text"] if len(rows) == 1 else [f"Row {number:,}" for number in range(1, len(rows) + 1)]


def _load(path: str, settings: ServerSettings) -> AnyPipeline:
    from regard.tasks.load import load, read_task
    from regard.training.device.machine import use_threads

    use_threads(settings.threads)
    named = {}
    if not Path(path).is_file():  # word vectors
        task = find_task(read_task(path))
        named = {"quantize": settings.quantize} if "quantize" in task.loads else {}
    pipeline: AnyPipeline = load(path, settings.device, precision=settings.precision, **named)
    return pipeline
