"""Time and memory that a call may take, and the only errors that may come out of it."""

import contextlib
import resource
import signal
from collections.abc import Iterator

from regard.errors import RegardError

MEMORY = 3 * 2**30
"""Bytes of address space beyond what is there already."""
SECONDS = 20


def _address_space() -> int:
    with open("/proc/self/statm") as file:  # noqa: PTH123 (as quick as can be: it is read for every example)
        return int(file.read().split()[0]) * resource.getpagesize()


@contextlib.contextmanager
def only_mistakes() -> Iterator[None]:
    """Let RegardErrors pass for an answer; anything else, a hang or a glut of memory fails the test."""

    def late(*_: object) -> None:
        raise TimeoutError(f"more than {SECONDS} s")

    before, (soft, hard) = signal.signal(signal.SIGALRM, late), resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + MEMORY, hard))
    signal.alarm(SECONDS)
    try:
        yield
    except RegardError as error:
        text = str(error)
        assert text and "\n" not in text.strip() and len(text) < 1_000, text
        text.encode("utf-8", "backslashreplace")
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
