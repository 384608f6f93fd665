"""Units of work: a row, a text to generate or a function, awaited in the event loop and done in a model's thread."""

import asyncio
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from regard.pipelines.base import Result
from regard.server.errors import Loose
from regard.server.guard import Asker

if TYPE_CHECKING:
    from regard.decoding.search.running import ListedToken
    from regard.decoding.session import GenerationJob
    from regard.decoding.steppers.interface import Hypothesis, Request
    from regard.pipelines.base import AnyPipeline, Options
    from regard.pipelines.generation import AnyGeneratingPipeline

T = TypeVar("T")
Group = tuple[Hashable, ...]
NOBODY = "server"
"""The client of work that no request asked for."""


class Unit(Generic[T]):
    """Work that is waited for: made in the event loop, done in the model's thread."""

    group: Group = ("",)
    """Units of a group may be computed together."""
    cost: float = 1.0
    """About how much work it is, in characters: what a client's share is measured in."""

    def __init__(self, asker: Asker | None) -> None:
        self.asker = asker
        self.client = NOBODY if asker is None else asker.client.name
        self.priority = 0 if asker is None else asker.priority
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[T] = self.loop.create_future()
        self.arrived = time.monotonic()
        self.is_cancelled = False

    def succeed(self, value: T) -> None:
        """Answer whoever waits (in the event loop)."""
        if not self.future.done():
            self.future.set_result(value)

    def fail(self, error: Exception) -> None:
        """Tell whoever waits that it failed (in the event loop)."""
        if not self.future.done():
            self.future.set_exception(error)


AnyUnit = Unit[Loose]


class FunctionUnit(Unit[T]):
    """A function to be called in the model's thread."""

    group = ("function",)

    def __init__(self, function: Callable[[], T], asker: Asker | None = None) -> None:
        super().__init__(asker)
        self.function = function


@dataclass(frozen=True)
class PipelineCall:
    """An operation of a model with the options of a request; rows of equal calls are computed together."""

    pipeline: "AnyPipeline"
    options: "Options"
    key: Hashable
    """Equal for calls with the same pipeline and options."""

    @property
    def device(self) -> str:
        """The type of the device that it computes on."""
        device = getattr(self.pipeline, "device", None)
        return "cpu" if device is None else str(device.type)


class RowUnit(Unit[Result]):
    """A row that a pipeline predicts, together with others of about its length."""

    def __init__(self, call: PipelineCall, row: object, where: str, asker: Asker | None = None) -> None:
        super().__init__(asker)
        self.call, self.row, self.where = call, row, where
        size = characters(row)
        self.cost = 32.0 + size
        self.group = ("rows", call.key, size.bit_length())
        self.is_checked = False

    def alone(self) -> None:
        """Compute it apart from all others from now on."""
        self.group = ("alone", id(self))


@dataclass(frozen=True)
class GenerationCall(PipelineCall):
    """An operation that generates text token by token."""

    pipeline: "AnyGeneratingPipeline"
    job: "GenerationJob"


@dataclass(frozen=True)
class Generated:
    """The outcome of a generation: the result as a call gives it, and the tokens with their alternatives."""

    result: Result
    request: "Request | None"
    hypotheses: "Sequence[Hypothesis]"
    tokens: "Sequence[ListedToken]" = ()


@dataclass
class StreamPiece:
    """A part of a text that is generated."""

    text: str = ""
    tokens: "list[ListedToken]" = field(default_factory=list)


@dataclass(frozen=True)
class Wanted:
    """Wishes of a request beside its options."""

    number: int = 1
    """The row number, which random numbers depend on."""
    seed: int | None = None
    is_streamed: bool = False
    alternatives: int = 0
    """Most probable tokens to list at each position."""
    ids: Sequence[int] | None = None
    """The tokens of a prompt that was given as tokens."""


class GenerationUnit(Unit[Generated]):
    """A text that a session generates, together with others of equal settings."""

    def __init__(
        self, call: GenerationCall, row: object, where: str, asker: Asker | None = None, wanted: Wanted | None = None
    ) -> None:
        super().__init__(asker)
        self.call, self.row, self.where, self.wanted = call, row, where, wanted or Wanted()
        self.cost = 32.0 + characters(row) + 4.0 * (call.job.settings.longest or 0)
        self.group = ("texts", call.key)
        self.request: Request | None = None
        """Made when its turn comes."""
        self.is_prepared = False
        self.has_begun = False
        """True once text was sent: it cannot begin anew."""
        self.piece = StreamPiece()
        self._has_piece = asyncio.Event()

    def alone(self) -> None:
        """Compute it apart from all others from now on."""
        self.group = ("alone", id(self))

    def add(self, piece: StreamPiece) -> None:
        """Add a part of the text (in the event loop)."""
        self.piece.text += piece.text
        self.piece.tokens += piece.tokens
        self._has_piece.set()

    def succeed(self, value: Generated) -> None:
        """Answer whoever waits."""
        super().succeed(value)
        self._has_piece.set()

    def fail(self, error: Exception) -> None:
        """Tell whoever waits that it failed."""
        super().fail(error)
        self._has_piece.set()

    async def next_piece(self) -> StreamPiece | None:
        """Return all that is new, as soon as there is something; None at the end."""
        while not (self.piece.text or self.piece.tokens):
            if self.future.done():
                return None
            self._has_piece.clear()
            await self._has_piece.wait()
        piece, self.piece = self.piece, StreamPiece()
        return piece


def characters(value: object) -> int:
    """Return the characters of all texts in a row."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list | tuple):
        return sum(map(characters, value))
    fields = getattr(value, "__dataclass_fields__", ())
    return sum(characters(getattr(value, name)) for name in fields)
