"""The application: routes of every protocol over one store of models, after one guard."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response

from regard.errors import RegardError
from regard.server.clients import Clients
from regard.server.errors import Loose
from regard.server.faults import Fault, JsonResponse, Shape, fault_response, own_shape
from regard.server.guard import Guard
from regard.server.operations import router as operations_router
from regard.server.protocols.base import ANY_NAME, Protocol, ServerState
from regard.server.protocols.hugging_face.routes import HUGGING_FACE
from regard.server.protocols.libretranslate import LIBRETRANSLATE
from regard.server.protocols.openai.routes import OPENAI
from regard.server.protocols.own import own_protocol
from regard.server.settings import ServerSettings
from regard.server.store import ModelStore
from regard.version import __version__


def create_app(settings: ServerSettings, store: ModelStore) -> FastAPI:
    """Return the application; further routers may be included, and are guarded as all others."""
    state = ServerState(settings, store, Clients(settings.keys), store.metrics)
    protocols: list[Protocol] = [
        OPENAI,
        LIBRETRANSLATE,
        HUGGING_FACE,
        own_protocol(settings.max_rows, settings.max_characters),
    ]
    app = FastAPI(
        title="regard",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        default_response_class=JsonResponse,
        lifespan=_lifespan(state),
    )
    app.state.server = state
    app.openapi = lambda: _described(app, store)  # type: ignore[method-assign]  # as its own documentation says
    for protocol in protocols:
        app.include_router(protocol.router)
    app.include_router(operations_router)

    def shape_of(path: str) -> Shape:
        return next((each.shape for each in protocols if path.startswith(each.paths)), own_shape)

    async def tell(request: Request, error: Exception) -> Response:
        return fault_response(Fault.of(error), shape_of(request.url.path))

    for kind in (RegardError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, tell)
    own_keys = tuple(path for each in protocols if each.has_own_keys for path in each.paths)
    app.add_middleware(
        Guard,
        settings=settings,
        clients=state.clients,
        metrics=state.metrics,
        shape_of=shape_of,
        has_own_keys=lambda path: path.startswith(own_keys) if own_keys else False,
    )
    if settings.allowed_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.allowed_origins,
            allow_methods=["GET", "POST"],
            allow_headers=["*"],
            expose_headers=["x-request-id", "retry-after"],
        )
    return app


def _described(app: FastAPI, store: ModelStore) -> dict[str, Loose]:
    """Return the OpenAPI description, in which a model is one of those that are served."""
    schema = get_openapi(title=app.title, version=app.version, routes=app.routes)
    names = {"type": "string", "enum": store.names()} if store.names() else {"type": "string"}
    for each in schema["components"]["schemas"].values():
        field = each.get("properties", {}).get("model", {})
        if field.pop(ANY_NAME, False):
            continue
        if field.get("type") == "string":
            field |= names
        elif "anyOf" in field:
            field["anyOf"] = [names, {"type": "null"}]
    for path in schema["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"] == "model":
                    parameter["schema"] |= names
    return schema


def _lifespan(state: ServerState) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        """Load models and watch for newer checkpoints while the server runs."""
        app.state.is_ready = False
        preload = asyncio.create_task(_preload(app, state.store))
        watch = asyncio.create_task(state.store.watch())
        try:
            yield
        finally:
            app.state.is_ready = False
            for task in (preload, watch):
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            state.store.close()

    return lifespan


async def _preload(app: FastAPI, store: ModelStore) -> None:
    await store.preload()
    app.state.is_ready = True
