"""Kill a batch job at random moments, start it again each time, and compare its output with that of a job left alone.

    python scripts/job_kills.py runs/de-en translate --kills 20 --option beam_size=1

The job runs in a process that is killed (SIGKILL) at a random moment of the time that the undisturbed job took. Each
is forked, so that it need not import torch again. Prints JSON, and fails unless all bytes are the same.
"""

import argparse
import gzip
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from regard import miniature
from regard.cli.main import main as command_line
from regard.pipelines.batch_jobs import RECORD


def write_inputs(folder: Path, rows: int, key: str) -> None:
    """Write input files of several kinds."""
    texts = [pair.source for pair in miniature.pairs("train", rows)]
    folder.mkdir()
    lines = [json.dumps({"id": number, key: text}) for number, text in enumerate(texts)]
    (folder / "a.jsonl").write_text("\n".join(lines[: rows // 2]) + "\n")
    with gzip.open(folder / "b.jsonl.gz", "wt") as file:
        file.write("\n".join(lines[rows // 2 :]) + "\n")


def start(words: list[str], log: Path) -> int:
    """Run a command of `regard` in a forked process, and return the process's number."""
    number = os.fork()
    if number == 0:
        code = 1
        try:
            for stream in (1, 2):
                os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
            sys.argv = ["regard", *words]
            command_line()
        except SystemExit as left:
            code = int(left.code or 0)
        finally:
            os._exit(code)
    return number


def ended(number: int) -> int:
    """Wait for a process, and return its exit code, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder but the job's own record."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != RECORD]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def main() -> int:
    """Run the job once undisturbed, and then with kills; return 1 if the outputs differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run")
    parser.add_argument("verb", choices=("translate", "generate"))
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--option", action="append", default=[], help="NAME=VALUE of the verb")
    given = parser.parse_args()
    chance, options = random.Random(given.seed), [f"--{each.replace('_', '-')}" for each in given.option]
    with tempfile.TemporaryDirectory(prefix="regard-jobs-") as name:
        folder = Path(name)
        write_inputs(folder / "in", given.rows, "source" if given.verb == "translate" else "prompt")
        words = [given.verb, given.run, "--files", str(folder / "in" / "*.jsonl*"), "--out", str(folder / "whole")]
        words += [part for each in options for part in each.split("=", 1)]
        began, log = time.perf_counter(), folder / "log"
        if ended(start(words, log)) != 0:
            print(log.read_text(), file=sys.stderr)
            return 1
        seconds = time.perf_counter() - began
        words[5], kills, starts = str(folder / "killed"), 0, 0
        while True:
            starts += 1
            process = start(words, log)
            if kills < given.kills:
                time.sleep(chance.uniform(0, seconds / 2))
                os.kill(process, signal.SIGKILL)
            code = ended(process)
            kills += code == -signal.SIGKILL
            if code == 0 and kills >= given.kills:
                break
            if code == 0:  # before all kills have fallen: another job begins
                if contents(folder / "killed") != contents(folder / "whole"):
                    break
                (folder / "killed").rename(folder / f"done-{starts}")
            elif code > 0:
                print(log.read_text(), file=sys.stderr)
                return 1
        same = contents(folder / "killed") == contents(folder / "whole")
    print(json.dumps({"kills": kills, "starts": starts, "seconds_undisturbed": round(seconds, 1), "identical": same}))
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
