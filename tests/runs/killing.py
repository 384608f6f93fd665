"""A run that is killed again and again; a program of its own, so that forks share what is slow to import."""

import json
import os
import random
import signal
import sys
import time
from importlib import import_module
from pathlib import Path

from regard import miniature
from regard.runs.resume import resume
from regard.runs.run import Run
from regard.runs.train import train

SETTINGS = {
    "model": {"preset": "transformer-tiny", "width": 16, "feed_forward_width": 32},
    "model.encoder_layers": 1,
    "model.decoder_layers": 1,
    "text.size": 300,
    "text.kind": "word",
    "data.valid_fraction": 0.1,
    "train": {
        "tokens_per_update": 100,
        "steps": 40,
        "warmup": 4,
        "validate_every": 9,
        "save_every": 4,
        "log_every": 5,
    },
    "train.ema_decay": 0.9,
    "validation.bleu_sentences": 0,
    "machine.threads": 1,
}


def go(path: Path) -> None:
    """Do what a user would: resume a run if there is one, else begin it."""
    if Run(path).exists:
        if Run(path).record.state != "finished":  # it may have been killed just before its end
            resume(path)
    else:
        train("translate", SETTINGS, data=PAIRS, out=path, overwrite=path.exists())


def forked(path: Path) -> int:
    """Train in a process of its own and return its number."""
    number = os.fork()
    if number == 0:
        code = 1
        try:
            go(path)
            code = 0
        finally:
            os._exit(code)
    return number


def killed_after(seconds: float, number: int) -> int:
    """Kill a process unless it ends before, and return how it ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, status = os.waitpid(number, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.002)
    os.kill(number, signal.SIGKILL)
    return os.waitpid(number, 0)[1]


def main(folder: Path, kills: int, seed: int) -> None:
    """Train once undisturbed, and then with so many kills, as many runs as it takes; print where each kill fell."""
    draw = random.Random(seed)
    started = time.monotonic()
    assert os.waitpid(forked(folder / "straight"), 0)[1] == 0
    whole = time.monotonic() - started
    fell: list[str | None] = []
    runs = 1
    while len(fell) < kills:
        run = folder / f"killed-{runs}"
        number = forked(run)
        status = killed_after(draw.uniform(0.0, whole), number)
        if status == signal.SIGKILL:
            index = run / "checkpoints" / "index.json"
            fell.append(json.loads(index.read_text())["latest"] if index.exists() else None)
        else:
            assert status == 0
            runs += 1  # it had finished
    assert os.waitpid(forked(folder / f"killed-{runs}"), 0)[1] == 0
    sys.stdout.write(json.dumps(fell))


if __name__ == "__main__":
    for slow in ("torch._dynamo", "matplotlib.backends.backend_agg", "matplotlib.figure"):
        import_module(slow)  # once here, not in every fork
    PAIRS = miniature.pairs("train", 100)
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
