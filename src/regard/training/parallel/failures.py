"""Failures among processes: one of them reports it, and one that does not answer is named by rank and host."""

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta

import torch.distributed as dist
from torch.distributed.distributed_c10d import PrefixStore, Store

from regard.errors import RunError
from regard.processes import set_reporter

BEAT_SECONDS = 1.0
"""Time between two signs of life."""
ANSWER_SECONDS = 3.0
"""Time in which the processes that are left answer, after one of them lost another."""

LOST = (
    "closed by peer",
    "connection reset",
    "broken pipe",
    "timed out",
    "timeout",
    "socket",
    "watchdog",
    "aborted",
    "network",
    "nccl",
    "connection refused",
    "recv",
)
"""Words in the errors of gloo, NCCL and the store when another process is gone."""


class Failures:
    """The messages among processes when something fails, over the store that brought them together."""

    def __init__(self, store: Store, rank: int, size: int, timeout: timedelta) -> None:
        self.store, self.rank, self.size, self.timeout = store, rank, size, timeout
        self.is_host = False
        """True if the store is in this process, and not in torchrun's."""
        self._is_over = threading.Event()

    @classmethod
    def connect(cls, timeout: timedelta) -> "Failures":
        """Return the failures of the processes that torchrun started, at their store."""
        rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        address, port = os.environ.get("MASTER_ADDR", "127.0.0.1"), int(os.environ.get("MASTER_PORT", "29500"))
        is_host = rank == 0 and os.environ.get("TORCHELASTIC_USE_AGENT_STORE") != "True"
        try:
            store = _connected(address, port, size, is_host, timeout)
        except (RuntimeError, ValueError) as error:  # DistError is one
            if is_host:
                raise RunError(
                    f"{address}:{port}: this port is in use; give another one with --master-port."
                ) from None
            raise RunError(
                f"{address}:{port}: rank {rank} on {socket.gethostname()} does not reach the store of rank 0 "
                f"({_line(error)}); check --master-addr and --master-port."
            ) from None
        attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        failures = cls(PrefixStore(f"regard/{attempt}", store), rank, size, timeout)
        failures.is_host = is_host
        failures.store.set(f"host/{rank}", socket.gethostname())
        own = PrefixStore(f"regard/{attempt}", store.clone())  # type: ignore[attr-defined]  # a connection that waits for nothing else
        threading.Thread(target=failures._beat, args=(own,), daemon=True).start()
        return failures

    def _beat(self, store: Store) -> None:
        """Count in the store that this process lives, until it ends."""
        with suppress(RuntimeError):
            while not self._is_over.wait(BEAT_SECONDS):
                store.add(f"beat/{self.rank}", 1)

    @contextmanager
    def reported(self) -> Iterator[None]:
        """Let the first process that fails report it; another one's end becomes a sentence that names it."""
        try:
            yield
            self._is_over.set()
        except (RuntimeError, OSError) as error:
            if not is_lost(error):
                set_reporter(self._is_first())
                raise
            sentence = self._missing(error)
            set_reporter(self._is_first())
            raise RunError(sentence) from None
        except BaseException:
            set_reporter(self._is_first())
            raise

    def _is_first(self) -> bool:
        try:
            number = self.store.add("failed", 1)
            until = time.monotonic() + 2 * ANSWER_SECONDS
            while self.is_host and self.store.add("failed", 0) < self.size and time.monotonic() < until:
                time.sleep(0.1)  # the store ends with this process, and others still ask it
            return number == 1
        except RuntimeError:  # the store is gone too, and with it the one that could have reported it
            return True

    def _missing(self, error: Exception) -> str:
        """Return the sentence about the processes that do not answer, after those that do have been heard."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # torchrun ends all as soon as it notices, too
        try:
            self.store.set(f"here/{self.rank}", "")
            if self.store.add("failed", 0):
                return "Another process failed."
            missing = self._silent()
            hosts = [f"rank {rank} on {self._host(rank)}" for rank in missing]
        except RuntimeError:
            hosts = [f"rank 0 on {os.environ.get('MASTER_ADDR', 'its host')}"]
        who = ", ".join(hosts) or "another process"
        seconds = self.timeout.total_seconds()
        what = f"did not answer within {seconds:g} seconds" if "time" in str(error).lower() else "was lost"
        return f"{who} {what} (its process ended, hangs or has no connection); resume with --resume."

    def _silent(self) -> Sequence[int]:
        """Return the ranks without a sign of life for a moment; if all give one, those that noticed no failure."""
        beats = lambda: [self.store.add(f"beat/{rank}", 0) for rank in range(self.size)]
        before = beats()
        time.sleep(ANSWER_SECONDS)
        missing = [rank for rank in range(self.size) if not self.store.check([f"here/{rank}"])]
        after = beats()
        return [rank for rank in missing if before[rank] == after[rank]] or missing

    def _host(self, rank: int) -> str:
        key = f"host/{rank}"
        return self.store.get(key).decode() if self.store.check([key]) else "an unknown host"


def _connected(address: str, port: int, size: int, is_host: bool, timeout: timedelta) -> Store:
    """Return the store; torch itself waits for ever where another program listens that does not answer."""
    outcome: list[Store | Exception] = []

    def connect() -> None:
        try:
            outcome.append(dist.TCPStore(address, port, size, is_host, timeout, wait_for_workers=False))  # type: ignore[attr-defined]
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(timeout.total_seconds() + ANSWER_SECONDS)
    result = outcome[0] if outcome else ValueError("what listens there does not answer")
    if isinstance(result, Exception):
        raise result
    return result


def is_lost(error: Exception) -> bool:
    """Return True for the error of a collective whose other side is gone."""
    text = str(error).lower()
    return isinstance(error, dist.DistError | ConnectionError) or any(word in text for word in LOST)


def _line(error: Exception) -> str:
    return " ".join(str(error).split("\n", 1)[0].split())[:200]
