"""Checks before every route: host, origin, key, size and time of a request; its id, its log line, its end."""

import asyncio
import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from regard.config.parsing import parse_number
from regard.server.clients import Client, Clients
from regard.server.errors import (
    DeadlineExceeded,
    Forbidden,
    Overloaded,
    RequestError,
    RequestTimeout,
    TooLarge,
)
from regard.server.faults import Fault, Shape, fault_response
from regard.server.metrics import Metrics
from regard.server.settings import LOOPBACK, ServerSettings

LOG = logging.getLogger("regard.server")
PUBLIC = ("/health", "/ready")
"""Paths that need no key."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
HELD_BODIES = 64
"""Bodies of the largest size that may be held together."""
REQUEST_ID = re.compile(r"[\w.:-]{1,128}")


@dataclass(eq=False)
class Asker:
    """The client of a request, its priority and its deadline."""

    request_id: str
    client: Client
    deadline: float
    """On the clock of time.monotonic."""
    priority: int = 0


@dataclass
class Exchange:
    """A request and what became of it."""

    scope: Scope
    started: float = field(default_factory=time.perf_counter)
    status: int = 0
    is_complete: bool = False

    def __post_init__(self) -> None:
        self.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in self.scope["headers"]}
        given = self.headers.get("x-request-id", "")
        self.request_id = given if REQUEST_ID.fullmatch(given) else uuid4().hex
        self.path: str = self.scope["path"]
        address = self.scope.get("client")
        self.address = address[0] if address else "local"

    @property
    def bearer(self) -> str | None:
        """The key in its headers."""
        kind, _, key = self.headers.get("authorization", "").partition(" ")
        return key.strip() or None if kind.lower() == "bearer" else None


class Guard:
    """The outermost application; `shape_of` gives the shape of faults at a path."""

    def __init__(
        self,
        app: ASGIApp,
        settings: ServerSettings,
        clients: Clients,
        metrics: Metrics,
        shape_of: Callable[[str], Shape],
        has_own_keys: Callable[[str], bool],
    ) -> None:
        self.app, self.settings, self.clients, self.metrics = app, settings, clients, metrics
        self.shape_of, self.has_own_keys = shape_of, has_own_keys
        self.hosts = set(settings.allowed_hosts) | (set(LOOPBACK) | {settings.host} if settings.is_private else set())
        if not settings.is_private and not settings.allowed_hosts:
            self.hosts = {"*"}
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        exchange = Exchange(scope)
        if scope["type"] == "websocket":
            await self._websocket(exchange, receive, send)
            return
        with self.metrics.requests_in_flight.track_inprogress():
            await self._answer(exchange, receive, self._noting(exchange, send))
        self._log(exchange)

    async def _answer(self, exchange: Exchange, receive: Receive, send: Send) -> None:
        client: Client | None = None
        try:
            self._check_origin(exchange)
            asker = self._asker(exchange)
            asker.client.enter()
            client = asker.client
            exchange.scope.setdefault("state", {})["asker"] = asker
            await self._watched(exchange, asker, receive, send)
        except _Gone:
            pass
        except RequestError as error:
            await self._refuse(exchange, Fault.of(error), receive, send)
        except Exception as error:  # its traceback is for the log alone
            LOG.exception("request %s failed", exchange.request_id)
            await self._refuse(exchange, Fault.of(error), receive, send)
        finally:
            if client is not None:
                client.leave()

    async def _watched(self, exchange: Exchange, asker: Asker, receive: Receive, send: Send) -> None:
        """Run the application on a request whose body has arrived, until it ends, its client leaves or time is up."""
        async with _Held(self, exchange) as held:
            body = await self._body(exchange, receive, held)
            task = asyncio.create_task(self._run(exchange.scope, body, send))
            gone = asyncio.create_task(_disconnected(receive))
            try:
                left = max(0.0, asker.deadline - time.monotonic())
                await asyncio.wait({task, gone}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                if not task.done() and not gone.done():
                    await _cancelled(task)
                    raise DeadlineExceeded("There was no answer within the time that this request may take.")
                if task.done():
                    task.result()
            finally:
                gone.cancel()
                await _cancelled(task)

    async def _run(self, scope: Scope, body: bytes, send: Send) -> None:
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Message:
            if messages:
                return messages.pop()
            return await asyncio.get_running_loop().create_future()  # its end is watched elsewhere

        await self.app(scope, receive, send)

    async def _body(self, exchange: Exchange, receive: Receive, held: "_Held") -> bytes:
        """Return the body of a request; one too large or too slow is refused."""
        limit, body = self.settings.max_body, bytearray()
        length = exchange.headers.get("content-length", "")
        too_large = TooLarge(f"The body is larger than {limit:,} bytes; send less at a time.")
        if length.isdecimal() and int(length[:20]) > limit:
            raise too_large
        try:
            async with asyncio.timeout(self.settings.body_timeout):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _Gone
                    held.add(len(message.get("body", b"")))
                    body += message.get("body", b"")
                    if len(body) > limit:
                        raise too_large
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            raise RequestTimeout(
                f"The body did not arrive within {self.settings.body_timeout:g} s; send it faster."
            ) from None

    def _check_origin(self, exchange: Exchange) -> None:
        """Refuse hosts and web pages that are not meant to reach this server (DNS rebinding, other sites)."""
        host = exchange.headers.get("host", "")
        name = urlsplit(f"//{host}").hostname or "" if _is_host(host) else ""
        if "*" not in self.hosts and name not in self.hosts:
            raise Forbidden(f'The host "{host}" is not allowed here; add it to allowed_hosts (--allowed-hosts).')
        origin = exchange.headers.get("origin")
        if origin is None or origin in self.settings.allowed_origins or "*" in self.settings.allowed_origins:
            return
        if urlsplit(origin).netloc != host if _is_host(origin.partition("//")[2]) else True:
            raise Forbidden(f'Pages of "{origin}" may not call this server; add it to allowed_origins.')

    def _asker(self, exchange: Exchange) -> Asker:
        """Return who asks: by the key, unless the route reads its own or needs none."""
        is_free = exchange.path in PUBLIC or self.has_own_keys(exchange.path)
        if is_free and not (exchange.bearer and self.clients.has_keys):
            client = Client(exchange.address) if self.clients.has_keys else self.clients.find(None, exchange.address)
        else:
            client = self.clients.find(exchange.bearer, exchange.address)
        wanted = _number(exchange, "x-timeout-seconds", self.settings.timeout)
        if wanted <= 0:
            raise RequestError("x-timeout-seconds: give a number above 0.", "x-timeout-seconds")
        deadline = time.monotonic() + min(wanted, self.settings.timeout)
        return Asker(exchange.request_id, client, deadline, client.priority(int(_number(exchange, "x-priority", 0))))

    async def _websocket(self, exchange: Exchange, receive: Receive, send: Send) -> None:
        """Let a web socket pass whose host, origin and key are right."""
        try:
            self._check_origin(exchange)
            exchange.scope.setdefault("state", {})["asker"] = self._asker(exchange)
        except RequestError as error:
            await send({"type": "websocket.close", "code": 1008, "reason": str(error)[:100]})
            return
        await self.app(exchange.scope, receive, send)

    async def _refuse(self, exchange: Exchange, fault: Fault, receive: Receive, send: Send) -> None:
        if not exchange.status:
            await fault_response(fault, self.shape_of(exchange.path))(exchange.scope, receive, send)

    def _noting(self, exchange: Exchange, send: Send) -> Send:
        """Return what sends a response with the id of its request, and notes its status."""

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                headers = [*message.get("headers", []), (b"x-request-id", exchange.request_id.encode())]
                message = {**message, "headers": [*headers, (b"x-content-type-options", b"nosniff")]}
            elif message["type"] == "http.response.body" and not message.get("more_body", False):
                exchange.is_complete = True
            await send(message)

        return noting

    def _log(self, exchange: Exchange) -> None:
        elapsed, status = time.perf_counter() - exchange.started, exchange.status if exchange.is_complete else 499
        route = exchange.scope.get("route")
        place = getattr(route, "path", None) or "(unknown)"
        method = exchange.scope["method"] if exchange.scope["method"] in METHODS else "other"
        self.metrics.responses.labels(place, method, status).inc()
        self.metrics.response_seconds.labels(place).observe(elapsed)
        facts = {
            "request_id": exchange.request_id,
            "client": exchange.address,
            "method": exchange.scope["method"],
            "path": exchange.path[:200],
            "status": status,
            "milliseconds": round(1000 * elapsed, 1),
        }
        LOG.info("request", extra={"facts": facts})


class _Gone(Exception):
    """The client has left."""


class _Held:
    """The bytes of a body that is held while it is answered; together they are bounded."""

    def __init__(self, guard: Guard, exchange: Exchange) -> None:
        self.guard, self.bytes = guard, 0

    def add(self, count: int) -> None:
        """Count further bytes."""
        self.bytes += count
        self.guard._held += count
        if self.guard._held > HELD_BODIES * self.guard.settings.max_body:
            raise Overloaded("The server holds too many large requests; send this one again later.", retry_after=2)

    async def __aenter__(self) -> "_Held":
        return self

    async def __aexit__(self, *error: object) -> None:
        self.guard._held -= self.bytes


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _cancelled(task: "asyncio.Task[None]") -> None:
    """Cancel a task, and wait until it has ended."""
    if not task.done():
        task.cancel()
        await asyncio.wait({task})


def _is_host(text: str) -> bool:
    return bool(re.fullmatch(r"[\w.:\[\]-]{1,300}", text))


def _number(exchange: Exchange, name: str, default: float) -> float:
    text = exchange.headers.get(name)
    number = default if text is None else parse_number(text)
    if number is None:
        raise RequestError(f"{name}: {text!r} is not a number.", name)
    return number
