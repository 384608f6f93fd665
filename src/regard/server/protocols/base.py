"""Shared parts of protocols: the state of the server, who asks, server-sent events, documented faults."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict
from starlette.responses import StreamingResponse

from regard.server.clients import Clients
from regard.server.faults import Fault, Shape, json_bytes
from regard.server.guard import Asker
from regard.server.metrics import Metrics
from regard.server.settings import ServerSettings
from regard.server.store import ModelStore

ANY_NAME = "x-any-name"
"""Marks a field `model` that may have any value in the OpenAPI description, since something else names the model."""
STATUSES = {
    400: "The request is wrong; the sentence has the reason.",
    401: "The API key is missing or unknown.",
    403: "The host, the origin or the key is not allowed.",
    404: "There is no such model or path.",
    405: "The path takes another method.",
    408: "The body came too slowly.",
    413: "The body is too large.",
    422: "A value is wrong; the sentence names it.",
    429: "Too much at a time; see retry-after.",
    500: "The server failed; its log has the reason.",
    503: "The model cannot be used now; see retry-after.",
    504: "There was no answer in time.",
}
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True)
class Protocol:
    """The routes of a protocol, and the shape of its errors."""

    router: APIRouter
    paths: tuple[str, ...]
    """Beginnings of its paths."""
    shape: Shape
    has_own_keys: bool = False
    """Its keys are in the bodies of requests."""


@dataclass(frozen=True)
class ServerState:
    """The parts of a server that routes use."""

    settings: ServerSettings
    store: ModelStore
    clients: Clients
    metrics: Metrics


class Body(BaseModel):
    """A body whose values have exactly the types of its schema, and nothing else."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True)


def state_of(request: Request) -> ServerState:
    """Return the state of the server that a request is for."""
    state: ServerState = request.app.state.server
    return state


def asker_of(request: Request) -> Asker:
    """Return who sent a request."""
    asker: Asker = request.state.asker
    return asker


State = Annotated[ServerState, Depends(state_of)]
From = Annotated[Asker, Depends(asker_of)]


def faults(schema: Mapping[str, object], *left_out: int) -> dict[int | str, dict[str, object]]:
    """Return the documentation of the statuses of a protocol, whose bodies have a schema."""
    content = {"application/json": {"schema": schema}}
    return {
        status: {"description": text, "content": content}
        for status, text in STATUSES.items()
        if status not in left_out
    }


def data(value: object) -> bytes:
    """Return a server-sent event."""
    return b"data: " + json_bytes(value) + b"\n\n"


async def event_stream(events: AsyncIterator[bytes], shape: Shape) -> StreamingResponse:
    """Return a stream of events; what fails before the first one has a status, what fails later is an event."""
    first = await anext(events, b"")

    async def every() -> AsyncIterator[bytes]:
        yield first
        try:
            async for event in events:
                yield event
        except Exception as error:
            yield data(shape(Fault.of(error))[1])

    headers = {"cache-control": "no-cache", "x-accel-buffering": "no"}
    return StreamingResponse(every(), media_type="text/event-stream", headers=headers)
