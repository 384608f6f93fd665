"""The process that trains a run, and whether it is still running."""

import os
import socket
from typing import Any

from regard.processes import is_restarted, launch_id, process_facts
from regard.tasks.record import ProcessRecord


def this_process() -> dict[str, Any]:
    """Return what identifies this process: its id, its host, and when it started."""
    facts = process_facts(os.getpid())
    began = facts[1] if facts else None
    return {"pid": os.getpid(), "host": socket.gethostname(), "began": began, "launch": launch_id()}


def is_of_this_launch(process: ProcessRecord) -> bool:
    """Return True for a process that torchrun started before it started all again, this one among them.

    Its id alone is not enough where torchrun was given none: an older launch has the same.
    """
    launcher = process_facts(os.getppid())
    is_here = process.host == socket.gethostname() and process.began is not None and launcher is not None
    is_older = is_here and launcher is not None and (process.began or 0) < launcher[1]
    return is_restarted() and process.launch == launch_id() and not is_older


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
    facts = process_facts(process.pid)
    if facts is None:
        return True
    state, began = facts
    return state != "Z" and process.began in (None, began)  # a number may be given to a new process
