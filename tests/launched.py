"""Runs of several processes that the command line starts, and what is done to them."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

TINY = [
    "data.train.max_rows=60",
    "data.valid.max_rows=5",
    "text.size=600",
    "model.width=16",
    "model.encoder_layers=1",
    "model.decoder_layers=1",
    "train.warmup=1",
    "train.log_every=1",
    "train.validate_every=1000",
    "train.save_every=3",
    "preflight=false",
    "validation.bleu_sentences=0",
    *(f"data.test.{name}.max_rows=1" for name in ("test", "unseen-pairs", "unseen-cases", "unseen-depth")),
]


def begun(*words: object) -> subprocess.Popen:
    command = [sys.executable, "-m", "regard", "train", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def steps(run: Path) -> int:
    """Return the last step in the metrics of a run, which others are writing."""
    path = run / "metrics.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return json.loads(lines[-1])["step"] if lines else 0


def wait_for(run: Path, step: int, process: subprocess.Popen) -> None:
    until = time.monotonic() + 120
    while steps(run) < step:
        assert time.monotonic() < until and process.poll() is None, process.communicate()
        time.sleep(0.02)


def workers(run: Path) -> list[int]:
    """Return the processes that train a run, which were started with its folder."""
    pids = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        if os.fsencode(run) in words and b"TORCHELASTIC_RUN_ID=" in environment:
            pids.append(int(folder.name))
    return sorted(pids)
