"""Serving of runs: what is checked before, and one process or several."""

import os
from collections.abc import Callable, Sequence

from regard.server.app import create_app
from regard.server.clients import Clients
from regard.server.logs import log_to_stderr
from regard.server.process import listening_socket, run_app, url_of
from regard.server.settings import ServerSettings
from regard.server.store import ModelStore, Version, named
from regard.server.supervisor import Supervisor, absolute
from regard.training.device.machine import choose_device, use_threads


def serve_runs(settings: ServerSettings, runs: Sequence[str], say: Callable[[str], None] | None = None) -> int:
    """Serve runs until a signal, and return the exit code; wrong settings and paths are refused first."""
    for path in named(runs).values():
        Version.of(path)
    Clients(settings.keys)
    choose_device(settings.device)
    use_threads(settings.threads)
    log_to_stderr(settings.log)
    listener = listening_socket(settings)
    if say is not None:
        url = url_of(listener)
        say(f"Serving {', '.join(named(runs))} at {url}: OpenAI at {url}/v1, all routes at {url}/docs. Ctrl-C stops.")
        if not settings.is_private and settings.keys is None:
            say("Anyone who can reach this address may use it: ask for keys with --keys FILE.")
    if settings.workers == 1:
        run_app(create_app(settings, ModelStore(settings, runs)), settings, listener)
        return 0
    threads = settings.threads or max(1, (os.cpu_count() or 1) // settings.workers)
    shared = settings.model_copy(update={"threads": threads, "workers": settings.workers})
    return Supervisor(shared, absolute(runs), listener).run()
