"""A server process: the application under uvicorn, with timeouts for slow clients and signals that drain."""

import asyncio
import logging
import os
import socket
import sys
from contextlib import suppress
from types import FrameType

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from regard.errors import RunError
from regard.server.errors import Loose
from regard.server.settings import ServerSettings

LOG = logging.getLogger("regard.server")
BACKLOG = 2048


def listening_socket(settings: ServerSettings) -> socket.socket:
    """Return a socket that listens at the settings' address."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # With the protocol named: asyncio turns off Nagle's algorithm for such sockets alone: 40 ms a response.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        place = f"{settings.host}:{settings.port}"
        raise RunError(f"{place}: cannot listen there ({error.strerror}); choose another --port or --host.") from None
    listener.listen(BACKLOG)
    listener.set_inheritable(True)
    return listener


def url_of(listener: socket.socket) -> str:
    """Return the address that a socket listens at."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run_app(app: ASGIApp, settings: ServerSettings, listener: socket.socket) -> None:
    """Serve until SIGTERM or SIGINT, which lets requests in flight finish; a second one ends at once."""
    allow_open_files()
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        ws="none",
        http=_protocol(settings),
        timeout_keep_alive=75,
        timeout_graceful_shutdown=round(settings.drain_seconds),
        backlog=BACKLOG,
        server_header=False,
    )
    Server(config).run([listener])


class Server(uvicorn.Server):
    """A server that a second signal ends at once."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Drain at the first signal; end at the second."""
        if self.should_exit:
            os._exit(128 + sig)
        LOG.warning("stopping: requests in flight are finished first; a second signal ends at once")
        self.should_exit = True


def _protocol(settings: ServerSettings) -> type[asyncio.Protocol]:
    class LimitedProtocol(H11Protocol):
        """HTTP of a client that sends its headers in time, one of as many as there may be."""

        waiting: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Loose) -> None:
            super().connection_made(transport)
            if len(self.connections) > settings.max_connections:
                transport.abort()
                return
            self._await_headers()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is h11.IDLE and self.waiting is None:
                self._await_headers()
            elif self.conn.their_state is not h11.IDLE:
                self._stop_waiting()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _await_headers(self) -> None:
            self.waiting = self.loop.call_later(settings.header_timeout, self._give_up)

        def _stop_waiting(self) -> None:
            if self.waiting is not None:
                self.waiting.cancel()
                self.waiting = None

        def _give_up(self) -> None:
            self.waiting = None
            if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
                self.transport.abort()

    return LimitedProtocol


def allow_open_files() -> None:
    """Raise the limit of open files to the highest that the system allows: each connection is one."""
    if sys.platform != "win32":
        import resource

        with suppress(ValueError, OSError):
            hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
