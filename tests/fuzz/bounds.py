"""How many examples a test looks at, the time and memory each may take, and the only errors that may come out."""

import contextlib
import os
import resource
import signal
from collections.abc import Iterator

from hypothesis import HealthCheck, settings

from regard.errors import LONGEST, RegardError

EXAMPLES = "FUZZ_EXAMPLES"
"""The environment variable by which `make fuzz` asks for more examples, other ones each time."""

MEMORY = 3 * 2**30
"""Bytes of address space beyond what is there already."""
SECONDS = 20


def fuzzed(examples: int) -> settings:
    """Return the settings of a fuzz test: so many examples in `make test`, the same every time."""
    return settings(
        max_examples=int(os.environ.get(EXAMPLES, examples)),
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=EXAMPLES not in os.environ,
        database=None,
        print_blob=True,
    )


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
        assert text and all(0 < len(line) <= LONGEST + 3 for line in text.split("\n")), text
        text.encode("utf-8", "backslashreplace")
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
