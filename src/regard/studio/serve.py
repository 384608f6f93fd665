"""The studio as a process: it listens, opens the browser, and ends at Ctrl-C."""

import threading
import time
import urllib.request
import webbrowser
from collections.abc import Callable

from regard.server.process import listening_socket, run_app, url_of
from regard.studio.app import create_studio
from regard.studio.settings import StudioSettings
from regard.studio.token import new_token

PATIENCE = 20.0
"""Seconds until which the browser waits for the first answer."""


def serve_studio(settings: StudioSettings, announce: Callable[[str], None]) -> None:
    """Serve the studio until Ctrl-C; `announce` gets its address, with the token where others can reach it."""
    token = None if settings.is_private else new_token()
    app = create_studio(settings, token)
    listener = listening_socket(settings)
    address = url_of(listener) + ("/" if token is None else f"/?token={token}")
    announce(address)
    if settings.browser:
        threading.Thread(target=open_browser, args=(address,), daemon=True).start()
    run_app(app, settings, listener)


def open_browser(address: str) -> bool:
    """Open an address once it answers; return False where there is no browser or no answer."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(address, timeout=2):
                return webbrowser.open(address)
        except OSError:
            time.sleep(0.1)
    return False
