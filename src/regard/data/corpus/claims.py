"""Claims on parts of some work, by processes of any hosts that see one folder, without a network.

A claim is a file that only one process can create (O_EXCL) and that its holder touches every second. One that nobody
touches is succeeded by the next number of it, which again only one process can create.
"""

import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

BEAT = 1.0
"""Seconds between two touches of a claim."""
STALE = 30.0
"""Seconds without a touch after which a holder on another host is given up; on this host it is asked for."""


class Claims:
    """The claims of one process in a folder."""

    def __init__(self, folder: Path, stale: float = STALE) -> None:
        self.folder, self.stale = folder, stale
        self.place = f"{socket.gethostname()} {_process_space()}"
        self.owner = f"{self.place} {os.getpid()} {uuid.uuid4().hex}"
        folder.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def taken(self, name: str) -> Iterator["Claim | None"]:
        """Hold a claim while the context is open; None if another process holds it."""
        claim = self._take(name)
        if claim is None:
            yield None
            return
        is_over = threading.Event()
        beat = threading.Thread(target=claim.beat, args=(is_over,), daemon=True)
        beat.start()
        try:
            yield claim
        finally:
            is_over.set()
            beat.join()
            claim.release()

    @contextmanager
    def held(self, name: str) -> Iterator["Claim"]:
        """Hold a claim while the context is open, after the process that holds it, if any."""
        while True:
            with self.taken(name) as claim:
                if claim is not None:
                    yield claim
                    return
            wait_a_moment()

    def _take(self, name: str) -> "Claim | None":
        number = self.latest(name)
        if number is not None and not self._is_dead(self.path(name, number)):
            return None
        claim = Claim(self, name, 0 if number is None else number + 1)
        try:
            with claim.path.open("x", encoding="utf-8") as file:
                file.write(self.owner)
        except FileExistsError:
            return None
        return claim

    def path(self, name: str, number: int) -> Path:
        """Return the file of a claim."""
        return self.folder / f"{name}.{number}.claim"

    def latest(self, name: str) -> int | None:
        """Return the number of the claim that counts; None where there is none."""
        number = 0
        while self.path(name, number).exists():
            number += 1
        return number - 1 if number else None

    def _is_dead(self, path: Path) -> bool:
        """Return whether the holder of a claim is gone."""
        try:
            owner, touched = path.read_text(encoding="utf-8"), path.stat().st_mtime
        except FileNotFoundError:
            return False  # released this moment
        place, _, rest = owner.rpartition(" ")[0].rpartition(" ")
        if place == self.place and rest.isdecimal():
            return not _lives(int(rest))
        return self._now() - touched > self.stale

    def _now(self) -> float:
        """Return the time by the clock of the file system, which all hosts share."""
        probe = self.folder / f".{uuid.uuid4().hex}"
        probe.touch()
        try:
            return probe.stat().st_mtime
        finally:
            probe.unlink()


class Claim:
    """A claim that this process holds."""

    def __init__(self, claims: Claims, name: str, number: int) -> None:
        self.claims, self.name, self.number = claims, name, number
        self.path = claims.path(name, number)

    @property
    def is_held(self) -> bool:
        """False if another process has given this one up, which was suspended too long."""
        return self.claims.latest(self.name) == self.number

    def beat(self, is_over: threading.Event) -> None:
        """Touch the claim until the event is set."""
        while not is_over.wait(BEAT):
            with suppress(OSError):
                os.utime(self.path)

    def release(self) -> None:
        """Remove the claim, and those before it; one that another process has succeeded stays."""
        if not self.is_held:
            return
        for number in range(self.number, -1, -1):
            self.claims.path(self.name, number).unlink(missing_ok=True)


def wait_a_moment() -> None:
    """Wait for what another process does."""
    time.sleep(0.2)


def _lives(process: int) -> bool:
    """Return whether a process of this host is there."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _process_space() -> str:
    """Return the space of process numbers: containers of one host have their own."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return "pid"
