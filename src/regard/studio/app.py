"""The application of the studio: that of the server with the calls of the pages, and the pages themselves."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.types import ASGIApp

from regard.errors import RegardError, RunError
from regard.server.app import create_app
from regard.server.faults import Fault
from regard.server.served import ServedModel
from regard.studio.calls import CALLS, STREAM, ViewCall
from regard.studio.messages import ModelRequest, StudioMessage
from regard.studio.settings import StudioSettings
from regard.studio.store import RunStore
from regard.studio.token import TokenGate
from regard.studio.views.generation import GenerationEvent, GenerationRequest, generation_events

PAGES = Path(__file__).parent / "static"
"""The built pages: made by `make studio` or when the wheel is built."""
POLICY = "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"
PREFIX = "/studio"
B = TypeVar("B", bound=StudioMessage)


def create_studio(settings: StudioSettings, token: str | None = None, pages: Path = PAGES) -> ASGIApp:
    """Return the application; with a token, what lacks it is refused."""
    if not (pages / "index.html").is_file():
        raise RunError(f"{pages}: the pages of the studio are not built; run make studio, or install the wheel.")
    store = RunStore(settings)
    app = create_app(settings, store)
    for call in CALLS:
        app.post(f"{PREFIX}/{call.name}", response_model=None, include_in_schema=False)(_route(call, settings, store))
    app.post(f"{PREFIX}/{STREAM}", response_model=None, include_in_schema=False)(_stream(store))
    _add_pages(app, pages)
    return app if token is None else TokenGate(app, token)


def _route(call: ViewCall, settings: StudioSettings, store: RunStore) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        body = await _body(request, call.request)
        if call.scope == "model":
            assert isinstance(body, ModelRequest), "calls of models name one"
            served = await store.model(body.model)
            given = body.model_copy(update={"model": served.path})
            made = await served.run(call.function, served.pipeline, given)
        else:
            arguments = (settings, body) if call.scope == "folder" else (body,)
            made = await asyncio.to_thread(call.function, *arguments)
        return Response(made.model_dump_json(), media_type="application/json")

    return answer


async def _body(request: Request, schema: type[B]) -> B:
    """Return the body of a request, checked: a schema is built when it is first needed, and not when routes are."""
    try:
        return schema.model_validate_json(await request.body())
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False)
        raise RequestValidationError([{**each, "loc": ("body", *each["loc"])} for each in problems]) from None


def _stream(store: RunStore) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        body = await _body(request, GenerationRequest)
        served = await store.model(body.model)
        events = generation_events(served.pipeline, body)
        first = await served.run(_next, events)  # a bad request is refused before the answer begins
        return StreamingResponse(_lines(served, first, events), media_type="application/x-ndjson")

    return answer


async def _lines(
    served: ServedModel, first: GenerationEvent | None, events: Iterator[GenerationEvent]
) -> AsyncIterator[bytes]:
    """Yield a line for each event; once the browser has left, nothing further is generated."""
    event = first
    while event is not None:
        yield event.model_dump_json().encode() + b"\n"
        try:
            event = await served.run(_next, events)
        except RegardError as error:
            yield Failure(error=Fault.of(error).message).model_dump_json().encode() + b"\n"
            return


class Failure(StudioMessage):
    """The last line of a stream that failed."""

    error: str


def _next(events: Iterator[GenerationEvent]) -> GenerationEvent | None:
    return next(events, None)


def _add_pages(app: FastAPI, pages: Path) -> None:
    """Add the built pages: their names hold a hash of their content, all but that of the index."""
    files = {path.relative_to(pages).as_posix(): path for path in pages.rglob("*") if path.is_file()}

    async def page(request: Request) -> Response:
        asset = request.path_params.get("name")
        name = "index.html" if asset is None else f"assets/{asset}"
        if name not in files:
            raise HTTPException(404)
        kept = "no-cache" if name == "index.html" else "public, max-age=31536000, immutable"
        headers = {"cache-control": kept, "content-security-policy": POLICY, "referrer-policy": "no-referrer"}
        return FileResponse(files[name], headers=headers)

    app.add_route("/", page, methods=["GET", "HEAD"])
    app.add_route("/assets/{name}", page, methods=["GET", "HEAD"])
