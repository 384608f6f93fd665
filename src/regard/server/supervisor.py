"""Several server processes at one socket: each is watched, and one that dies is replaced."""

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from prometheus_client import multiprocess

from regard.server.metrics import FOLDER
from regard.server.settings import ServerSettings

LOG = logging.getLogger("regard.server")
POLL = 0.1
BRIEF = 5.0
"""Seconds: a process that lived no longer is replaced after a pause, which doubles."""
LONGEST_PAUSE = 30.0


@dataclass
class Worker:
    """A slot of a process."""

    process: "subprocess.Popen[bytes] | None" = None
    started: float = 0.0
    pause: float = 0.0
    due: float = 0.0
    """When the next process is to be started."""


@dataclass
class Supervisor:
    """The processes of a server; SIGTERM and SIGINT drain them all, a second one ends them at once."""

    settings: ServerSettings
    runs: Sequence[str]
    listener: socket.socket
    workers: list[Worker] = field(default_factory=list)
    signals: int = 0

    def run(self) -> int:
        """Keep all processes running until a signal; return the exit code."""
        self.workers = [Worker() for _ in range(self.settings.workers)]
        before = {each: signal.signal(each, self._handle) for each in (signal.SIGTERM, signal.SIGINT)}
        try:
            with tempfile.TemporaryDirectory(prefix="regard-metrics-") as metrics:
                os.environ[FOLDER] = metrics
                return self._watch(metrics)
        finally:
            os.environ.pop(FOLDER, None)
            for each, handler in before.items():
                signal.signal(each, handler)

    def _watch(self, metrics: str) -> int:
        while not self.signals:
            for worker in self.workers:
                self._tend(worker, metrics)
            time.sleep(POLL)
        self.listener.close()
        told, deadline = 0, time.monotonic() + self.settings.drain_seconds + 5
        while any(worker.process is not None and worker.process.poll() is None for worker in self.workers):
            if told < min(self.signals, 2):
                told += 1
                self._tell(signal.SIGTERM if told == 1 else signal.SIGKILL)
            if time.monotonic() > deadline:
                self._tell(signal.SIGKILL)
            time.sleep(POLL)
        return 0 if self.signals == 1 else 128 + signal.SIGTERM

    def _tend(self, worker: Worker, metrics: str) -> None:
        """Start the process of a slot where none runs; one that keeps dying at once is started less often."""
        if worker.process is not None:
            code = worker.process.poll()
            if code is None:
                return
            lived = time.monotonic() - worker.started
            worker.pause = 0.0 if lived > BRIEF else min(LONGEST_PAUSE, max(0.5, 2 * worker.pause))
            worker.due = time.monotonic() + worker.pause
            LOG.error("process %d ended (%d); another one replaces it", worker.process.pid, code)
            multiprocess.mark_process_dead(worker.process.pid, metrics)
            worker.process = None
        if time.monotonic() >= worker.due:
            words = [sys.executable, "-m", "regard.server.worker", str(self.listener.fileno())]
            given = json.dumps({"settings": self.settings.model_dump(mode="json"), "runs": list(self.runs)})
            worker.process = subprocess.Popen(
                words, stdin=subprocess.PIPE, pass_fds=[self.listener.fileno()], start_new_session=True
            )
            assert worker.process.stdin is not None, "it is a pipe"
            worker.process.stdin.write(given.encode())
            worker.process.stdin.close()
            worker.started = time.monotonic()

    def _tell(self, number: signal.Signals) -> None:
        for worker in self.workers:
            if worker.process is not None and worker.process.poll() is None:
                worker.process.send_signal(number)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.signals += 1


def absolute(runs: Sequence[str]) -> list[str]:
    """Return runs as they are named from any folder."""
    named = []
    for run in runs:
        name, equals, path = run.partition("=")
        if not equals or Path(run).exists():
            name, equals, path = "", "", run
        prefix = "hf:" if path.startswith("hf:") else ""
        named.append(f"{name}{equals}{prefix}{Path(path.removeprefix('hf:')).resolve()}")
    return named
