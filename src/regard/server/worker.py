"""One of several server processes: `python -m regard.server.worker FD`, its settings on standard input."""

import socket
import sys
import threading
import time
from os import _exit, getppid

from regard.config.parsing import parse_json
from regard.server.app import create_app
from regard.server.logs import log_to_stderr
from regard.server.process import run_app
from regard.server.settings import ServerSettings
from regard.server.store import ModelStore


def main() -> None:
    """Serve at a socket that is open already."""
    given = parse_json(sys.stdin.read())
    settings, parent = ServerSettings.model_validate(given["settings"]), getppid()
    log_to_stderr(settings.log)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    run_app(
        create_app(settings, ModelStore(settings, given["runs"])), settings, socket.socket(fileno=int(sys.argv[1]))
    )


def _end_with(parent: int) -> None:
    """End this process when the one that watches it is gone."""
    while getppid() == parent:
        time.sleep(1)
    _exit(1)


if __name__ == "__main__":
    main()
