"""The start of several processes on this host, by torchrun's own agent."""

import logging
import os
import sys
import uuid
from collections.abc import Sequence

SAVE_SECONDS = 300
"""Time in which processes that were asked to stop may save; after that they are killed."""


def launch(arguments: Sequence[str], processes: int, max_restarts: int = 0) -> int:
    """Run `regard` with these arguments in several processes that train together, and return the exit code.

    A signal is passed on once to each: they save and end. Another one ends them at once.
    """
    from torch.distributed.elastic.multiprocessing import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // processes)))
    logging.disable(logging.CRITICAL)  # each failure has a sentence of its own
    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=processes,
        run_id=uuid.uuid4().hex,
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",
        max_restarts=max_restarts,
        shutdown_timeout=SAVE_SECONDS,
    )
    try:
        elastic_launch(config, sys.executable)("-m", "regard", *arguments)
    except ChildFailedError as error:
        codes = [failure.exitcode for failure in error.failures.values()]
        return next((code for code in codes if code > 0), 128 + abs(codes[0]))
    except SignalException as stop:
        return 128 + int(stop.sigval)
    return 0
