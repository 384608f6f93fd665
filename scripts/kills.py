"""Kill `regard train` at random moments, over all tasks, resume it each time, and compare with runs left alone.

    python scripts/kills.py --kills 100 --seed 1

Each task is trained once undisturbed. Then `regard train` runs in a process that is killed (SIGKILL) at a random
moment of the time that the undisturbed run took, and is resumed, until all kills have fallen. A task passes if its
weights, optimizer state and metrics are the same to the bit. Processes are forked, so that each need not import torch
again.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from every_task import TASKS
from regard.runs.run import Run
from regard.runs.store.listing import state_of
from regard.runs.verify import differences

LONGER = {"train.steps": 40, "train.save_every": 4, "train.log_every": 5}
"""So that kills fall before, in and after saves and validations."""
VALIDATED = {"train.validate_every": 9}
RARE = {"vectors": {"train.words_per_update": 200}}
UNFINISHED = ("running", "preparing", "stopped (killed)")


def words(task: str, folder: Path) -> list[str]:
    """Return the command line that trains a task."""
    settings = TASKS[task].overrides(folder / "data") | LONGER | RARE.get(task, VALIDATED) | {"machine.threads": 1}
    return ["train", task, *(f"{key}={value}" for key, value in settings.items())]


def start(command: list[str], out: Path, log: Path) -> int:
    """Begin or resume a run in a forked process, and return the process's number."""
    arguments = ["train", "--resume", str(out)] if Run(out).exists else [*command, "--out", str(out)]
    number = os.fork()
    if number == 0:
        code = 1
        try:
            for stream in (1, 2):
                os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
            sys.argv = ["regard", *arguments, "--quiet"]
            from regard.cli.main import main

            main()
        except SystemExit as left:
            code = int(left.code or 0)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return number


def ended(number: int, seconds: float | None = None) -> int:
    """Wait for a process, kill it when its time is over, and return its exit code (negative: the signal)."""
    deadline = None if seconds is None else time.monotonic() + seconds
    while deadline is not None and time.monotonic() < deadline:
        done, status = os.waitpid(number, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    if deadline is not None:
        os.kill(number, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def is_finished(run: Run) -> bool:
    """Tell whether nothing is left to do."""
    return run.exists and state_of(run.record) not in UNFINISHED


def check_task(task: str, kills: int, folder: Path, draw: random.Random) -> dict[str, object]:
    """Train a task with so many kills and return where they fell and what differs from the run left alone."""
    command, log = words(task, folder), folder / "log.txt"
    began = time.monotonic()
    code = ended(start(command, folder / "straight", log))
    if code != 0:
        return {"task": task, "error": log.read_text()[-500:], "code": code}
    whole, fell, runs, worst = time.monotonic() - began, [], 0, 0.0
    while len(fell) < kills:
        runs += 1
        out = folder / f"killed-{runs}"
        while not is_finished(Run(out)):
            left = len(fell) < kills
            code = ended(start(command, out, log), draw.uniform(0, whole) if left else None)
            if code == -signal.SIGKILL:
                fell.append(_step(out))
            elif code != 0:
                return {"task": task, "error": log.read_text()[-500:], "code": code, "fell": fell}
        worst = max(worst, *differences(Run(folder / "straight"), Run(out)))
    return {"task": task, "kills": len(fell), "runs": runs, "fell": fell, "difference": worst}


def _step(out: Path) -> int | None:
    """Return the step of the latest checkpoint, None before the first."""
    index = out / "checkpoints" / "index.json"
    return int(json.loads(index.read_text())["latest"][:8]) if index.exists() else None


def main() -> int:
    """Print a line of JSON for each task, and return 1 if one of them failed or differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="kills over all tasks together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tasks", nargs="*", default=list(TASKS), choices=list(TASKS))
    given = parser.parse_args()
    for slow in ("torch._dynamo", "matplotlib.backends.backend_agg", "matplotlib.figure", "sklearn.metrics"):
        import_module(slow)  # once here, not in every fork
    draw, failed = random.Random(given.seed), False
    for place, task in enumerate(given.tasks):
        kills = given.kills * (place + 1) // len(given.tasks) - given.kills * place // len(given.tasks)
        with tempfile.TemporaryDirectory() as folder:
            result = check_task(task, kills, Path(folder), draw)
        sys.stdout.write(json.dumps(result) + "\n")
        sys.stdout.flush()
        failed |= result.get("difference") != 0.0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
