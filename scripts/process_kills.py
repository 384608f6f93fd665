"""Kill workers of several processes under torchrun at random moments, and compare with a training left alone.

    python scripts/process_kills.py --kills 20 --seed 1 --strategy replicate shard

For each strategy a small translator is trained once undisturbed. Then it is trained under `torchrun --max-restarts`,
and one worker, drawn at random, is killed (SIGKILL) at a random moment of the time that the undisturbed run took,
again after each restart, in as many runs as it takes until all kills have fallen. A strategy passes if weights,
optimizer state and metrics of every run are the same to the bit. Prints a line of JSON a strategy: the step of the
newest checkpoint at each kill (null: before the first), and the largest difference.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from launched import TINY, workers
from regard.runs.run import Run
from regard.runs.verify import differences

UPDATES = ["train.steps=60", "train.save_every=4", "train.log_every=5", "train.validate_every=9"]


def start(out: Path, given: argparse.Namespace, strategy: str) -> subprocess.Popen[str]:
    """Start a training of several processes, each of which torchrun starts again after a kill."""
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", given.processes]
    torchrun += ["--max-restarts", given.kills + 1, "-m", "regard", "train", "translate-miniature", *TINY, *UPDATES]
    command = [*torchrun, f"train.distributed={strategy}", "--threads", 1, "--quiet", "--out", out]
    return subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def kill_one(out: Path, process: subprocess.Popen[str], seconds: float, draw: random.Random) -> bool:
    """Kill a worker after so many seconds; return False if the training has ended before."""
    until = time.monotonic() + seconds
    while time.monotonic() < until or not workers(out):
        if process.poll() is not None:
            return False
        time.sleep(0.02)
    os.kill(draw.choice(workers(out)), signal.SIGKILL)
    return True


def newest(out: Path) -> int | None:
    """Return the step of the newest checkpoint, None before the first."""
    index = out / "checkpoints" / "index.json"
    return int(json.loads(index.read_text())["latest"][:8]) if index.exists() else None


def check(strategy: str, given: argparse.Namespace, folder: Path, draw: random.Random) -> dict[str, object]:
    """Train with so many kills and return where they fell and what differs from the run left alone."""
    began = time.monotonic()
    calm = start(folder / "calm", given, strategy)
    if text := _failure(calm):
        return {"strategy": strategy, "error": text}
    whole, fell, runs, worst = time.monotonic() - began, list[int | None](), 0, 0.0
    while len(fell) < given.kills:
        runs += 1
        out = folder / f"killed-{runs}"
        process = start(out, given, strategy)
        while len(fell) < given.kills and kill_one(out, process, draw.uniform(0, whole), draw):
            fell.append(newest(out))
        if text := _failure(process):
            return {"strategy": strategy, "error": text, "fell": fell}
        worst = max(worst, *differences(Run(folder / "calm"), Run(out)))
    return {"strategy": strategy, "kills": len(fell), "runs": runs, "fell": fell, "difference": worst}


def _failure(process: subprocess.Popen[str]) -> str:
    """Wait for a training and return the end of its output if it failed."""
    text, _ = process.communicate()
    return text[-1500:] if process.returncode else ""


def main() -> int:
    """Print a line of JSON for each strategy, and return 1 if one of them failed or differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20, help="kills of each strategy")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--strategy", nargs="*", default=["replicate"], choices=["replicate", "shard"])
    given, failed = parser.parse_args(), False
    for strategy in given.strategy:
        with tempfile.TemporaryDirectory() as folder:
            result = check(strategy, given, Path(folder), random.Random(given.seed))
        sys.stdout.write(json.dumps(result) + "\n")
        sys.stdout.flush()
        failed |= result.get("difference") != 0.0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
