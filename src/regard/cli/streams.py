"""Standard input, output and errors, whatever the shell made of them: closed, full, broken or in another encoding."""

import os
import sys
from io import TextIOWrapper, UnsupportedOperation
from typing import Any

from regard.escaping import printable


def open_closed_streams() -> None:
    """Put the null device where a stream was closed (`>&-`): else a file that is opened later takes its place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if number == 0 else os.O_WRONLY)  # takes the lowest number that is free
    # Standard input stays None: that it is closed is told to whoever asks for text.
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w", encoding="utf-8", closefd=False))


def prepare_streams() -> None:
    """Make text UTF-8, whatever the locale says."""
    open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def silence(stream: Any) -> None:
    """Send what is still to be written to a stream nowhere, so that nothing fails again when Python ends."""
    try:
        number = stream.fileno()
    except (OSError, UnsupportedOperation, ValueError):
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, number)
    os.close(null)


def say_error(sentence: str) -> None:
    """Write a line to standard error, if that can be written to."""
    try:
        sys.stderr.write(f"{printable(sentence)}\n")
        sys.stderr.flush()
    except OSError:
        silence(sys.stderr)
