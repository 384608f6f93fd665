"""This process: when it began, and its rank among those that torchrun has started."""

import atexit
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

BEGAN = "REGARD_BEGAN"
"""The environment variable in which processes that a command starts find when it began."""
LOADED = time.monotonic()


def world_size() -> int:
    """Return the number of processes that were started to train together."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def processes_on_host() -> int:
    """Return how many of these processes run on this host."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", world_size()))


def is_started() -> bool:
    """Return True if torchrun has started this process."""
    return "WORLD_SIZE" in os.environ


def is_main_process() -> bool:
    """Return True if this process has rank 0."""
    return os.environ.get("RANK", "0") == "0"


def launch_id() -> str:
    """Return the name of the launch by torchrun, the same after a restart; empty without it."""
    return os.environ.get("TORCHELASTIC_RUN_ID", "")


def is_restarted() -> bool:
    """Return True if torchrun has started these processes again, after one of them died."""
    return int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")) > 0


def command_began() -> float:
    """Return the time.monotonic() at which this command began, before its imports."""
    known = 0.0 if is_restarted() else float(os.environ.get(BEGAN, 0.0))
    return known or process_began()


def process_began() -> float:
    """Return the time.monotonic() at which this process began, or its imports where that is not known."""
    facts = process_facts(os.getpid())
    if facts is None:
        return LOADED
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - facts[1] / os.sysconf("SC_CLK_TCK")
    return min(LOADED, time.monotonic() - age)


def process_facts(pid: int) -> tuple[str, int] | None:
    """Return the state of a process and the moment it began, in ticks since the start of the machine (Linux)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    words = text.rpartition(")")[2].split()  # the name in parentheses may hold anything
    return words[0], int(words[19])


def quiet_torch() -> None:
    """Drop torch's notes on speed, which every process would print; read when torch loads."""
    if world_size() > 1:
        os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")


_reports: bool | None = None


def set_reporter(reports: bool) -> None:
    """Decide whether this process reports the error that ends all."""
    global _reports
    _reports = reports


def is_reporter() -> bool:
    """Return True if this process reports the error that ends all: rank 0 until it is decided."""
    return is_main_process() if _reports is None else _reports


def end(code: int) -> NoReturn:
    """Exit; where threads still run, those of gloo or one that writes a checkpoint, at once, without joining them."""
    if world_size() > 1 or any(
        not each.daemon for each in threading.enumerate() if each is not threading.main_thread()
    ):
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    sys.exit(code)
