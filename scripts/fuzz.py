"""Throw damaged files at every reader for so many minutes; the first failure ends it, with the example that failed.

python scripts/fuzz.py --minutes 10
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> int:
    """Run the fuzz tests again and again, each time from another seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--examples", type=int, default=100, help="of each test in each round")
    parser.add_argument("--workers", default="auto", help="processes (of pytest-xdist)")
    given = parser.parse_args()
    deadline, rounds = time.monotonic() + 60 * given.minutes, 0
    environment = os.environ | {"FUZZ_EXAMPLES": str(given.examples)}
    while time.monotonic() < deadline:
        rounds += 1
        words = [sys.executable, "-m", "pytest", "tests/fuzz", "-n", given.workers, "--maxprocesses", "8", "-x"]
        seed = int.from_bytes(os.urandom(4))
        done = subprocess.run([*words, f"--hypothesis-seed={seed}"], cwd=ROOT, env=environment, check=False)
        if done.returncode != 0:
            sys.stdout.write(f"round {rounds} failed (seed {seed}).\n")
            return done.returncode
    sys.stdout.write(f"{rounds} rounds of {given.examples} examples a test: nothing but RegardErrors.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
