"""The process that trains a run, and whether it is still running."""

import os
import socket
from pathlib import Path
from typing import Any

from regard.processes import launch_id
from regard.tasks.record import ProcessRecord


def this_process() -> dict[str, Any]:
    """Return what identifies this process: its id, its host, and when it started."""
    facts = _facts(os.getpid())
    began = facts[1] if facts else None
    return {"pid": os.getpid(), "host": socket.gethostname(), "began": began, "launch": launch_id()}


def is_alive(process: ProcessRecord) -> bool | None:
    """Return whether a process is running; None where that cannot be determined from here."""
    if process.host != socket.gethostname() or process.pid is None or os.name == "nt":
        return None
    try:
        os.kill(process.pid, 0)  # signal 0 only asks
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # another user's process, and running
    facts = _facts(process.pid)
    if facts is None:
        return True
    state, began = facts
    return state != "Z" and process.began in (None, began)  # a number may be given to a new process


def _facts(pid: int) -> tuple[str, int] | None:
    """Return the state of a process and the moment it began, in ticks since the start of the machine (Linux)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    words = text.rpartition(")")[2].split()  # the name in parentheses may hold anything
    return words[0], int(words[19])
