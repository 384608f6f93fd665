"""This process among those that torchrun has started: its rank, its launch, and who reports an error of all."""

import atexit
import os
import sys
from contextlib import suppress
from typing import NoReturn


def world_size() -> int:
    """Return the number of processes that were started to train together."""
    return int(os.environ.get("WORLD_SIZE", "1"))


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
    """Exit; one of several does so at once, all files closed, before gloo's threads are torn down: that may abort."""
    if world_size() > 1:
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    sys.exit(code)
