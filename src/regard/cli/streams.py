"""Standard streams that are closed, full, broken or in another encoding."""

import os
import sys
from io import TextIOWrapper, UnsupportedOperation
from typing import Any

from regard.escaping import printable


def open_closed_streams() -> None:
    """Open the null device for each closed stream (`>&-`): else a file that is opened later gets its descriptor."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if number == 0 else os.O_WRONLY)  # the lowest free descriptor
    # Standard input stays None: a verb that needs text reports that it is closed.
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w", encoding="utf-8", closefd=False))


def prepare_streams() -> None:
    """Set output and errors to UTF-8, whatever the locale."""
    open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def silence(stream: Any) -> None:
    """Redirect a stream to the null device, so that buffered text does not fail again when Python exits."""
    try:
        number = stream.fileno()
    except (OSError, UnsupportedOperation, ValueError):
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, number)
    os.close(null)


def print_error(sentence: str) -> None:
    """Print a line on standard error, if it is writable."""
    try:
        sys.stderr.write(f"{printable(sentence)}\n")
        sys.stderr.flush()
    except OSError:
        silence(sys.stderr)
