"""Take the link between two hosts down for ten seconds in a training of both, and compare with a run left alone.

    python scripts/link_down.py --seconds 10 --timeout 5

The hosts are network namespaces joined by a pair of virtual interfaces (root and iproute2 are needed), each with its
own torchrun. The process that no longer answers is to be named by rank and host, torchrun starts all again, and the
run ends with the weights, optimizer state and metrics of one that two processes trained undisturbed. Prints a line of
JSON: the sentences that name it, the seconds until the first, and the largest difference.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from launched import TINY, begun, wait_for
from namespaces import joined, missing, node, set_link
from regard.runs.run import Run
from regard.runs.verify import differences

NAMED = re.compile(r"rank \d+ on \S+ (?:did not answer within \S+ seconds|was lost)")
WORDS = ["translate-miniature", *TINY, "train.steps=40", "--threads", 1]


def lines_of(process: subprocess.Popen[str], told: list[tuple[float, str]]) -> threading.Thread:
    """Collect the lines of a process, each with the time when it came."""

    def read() -> None:
        assert process.stdout is not None
        told.extend((time.monotonic(), line) for line in process.stdout)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


def disturbed(out: Path, seconds: float, timeout: float) -> dict[str, object]:
    """Train on two hosts whose link goes down after a few updates; return what was named, and when."""
    told: list[tuple[float, str]] = []
    with joined() as names:
        words = [*WORDS, f"machine.process_timeout={timeout:g}"]
        nodes = [node(number, name, out, *words) for number, name in enumerate(names, 1)]
        readers = [lines_of(each, told) for each in nodes]
        try:
            wait_for(out, 7, nodes[0])
            set_link(names[1], "down")
            down = time.monotonic()
            time.sleep(seconds)
            set_link(names[1], "up")
            codes = [each.wait(timeout=280) for each in nodes]
        finally:
            for each in nodes:
                each.kill()
    for reader in readers:
        reader.join(5)
    named = [(when - down, match[0]) for when, line in told if (match := NAMED.search(line))]
    result = {"codes": codes, "named": sorted({text for _, text in named})}
    return result | {"after": round(min((when for when, _ in named), default=-1.0), 1)}


def main() -> int:
    """Print what happened, and return 1 if the run differs or nobody was named in time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long the link is down")
    parser.add_argument("--timeout", type=float, default=5.0, help="machine.process_timeout")
    given = parser.parse_args()
    if reason := missing():
        sys.stdout.write(json.dumps({"skipped": reason}) + "\n")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        result = disturbed(Path(folder) / "disturbed", given.seconds, given.timeout)
        calm = begun(*WORDS, "--processes", 2, "--out", Path(folder) / "calm")
        calm.communicate(timeout=280)
        gaps = differences(Run(Path(folder) / "calm"), Run(Path(folder) / "disturbed"))
        result["difference"] = max(gaps)
    sys.stdout.write(json.dumps(result) + "\n")
    return int(result["codes"] != [0, 0] or not result["named"] or result["difference"] != 0.0)


if __name__ == "__main__":
    sys.exit(main())
