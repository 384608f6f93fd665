"""The numbers of a tiny training of every task: losses, validation figures, weights and outputs.

Names are left out on purpose, so that the numbers of two versions can be compared whatever things are called there.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

from commands import good
from every_task import TASKS
from fuzz.folders import predict
from regard.runs.run import Run

CLOCKS = ("seconds", "per_second", "data_wait", "memory")
"""Parts of the names of figures that differ from run to run."""


LONGER = ("train.steps=12", "train.log_every=1", "machine.threads=1")
RATE = "train.learning_rate=0.001"
ROOT = (RATE, "train.schedule=inverse-sqrt", "train.patience=8")
DROPOUT = ("model.dropout=0.1", "model.embedding_dropout=0.1")
SETTLED = {
    "translate": (*ROOT, *DROPOUT, "text.dropout=0.0"),
    "language-model": (*ROOT, *DROPOUT),
    "masked-language-model": (
        RATE,
        "train.schedule=linear",
        "train.betas=[0.9, 0.999]",
        "model.init_std=0.02",
        *DROPOUT,
    ),
    "elmo": (*ROOT, "model.dropout=0.1"),
    "vectors": ("train.epochs=5",),
    **dict.fromkeys(("classify", "regress", "tag", "answer", "choose"), (RATE,)),
}
"""Settings that would be planned: the numbers are those of a training, not of a plan."""


def golden(task: str, folder: Path) -> dict[str, Any]:
    """Train a task for a few steps on one thread and return its numbers."""
    words = [*TASKS[task].words(folder / "data"), *LONGER, *SETTLED.get(task, ())]
    good("train", *words, "--out", folder / "run", "--quiet")
    run = Run(folder / "run")
    records = [json.loads(line) for line in (run.path / "metrics.jsonl").read_text().splitlines()]
    figures = [
        round(float(value), 10)
        for record in records
        for name, value in record.items()
        if value is not None and not any(part in name for part in CLOCKS)
    ]
    tensors = safetensors.numpy.load_file(run.best / "model.safetensors")
    return {
        "figures": sorted(figures),
        "weights": _checksum(tensors.values()),
        "norms": sorted(round(float(np.linalg.norm(tensor)), 6) for tensor in tensors.values()),
        "output": _output(task, run),
    }


def _checksum(tensors) -> str:
    """Return one hash for tensors, whatever their names and order."""
    each = sorted(hashlib.sha256(np.ascontiguousarray(tensor).tobytes()).hexdigest() for tensor in tensors)
    return hashlib.sha256("".join(each).encode()).hexdigest()


def _output(task: str, run: Run) -> list[str | float]:
    """Return the texts and numbers in what the model answers, sorted, so that no name or order of fields counts."""
    answer = predict(run.path, task)
    if task == "answer":  # its context is given, not predicted
        answer = [replace(each, row=each.row.question) for each in answer]
    return sorted(_leaves(answer), key=lambda leaf: (isinstance(leaf, str), leaf))


def _leaves(value: Any) -> Iterator[str | float]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, bool | int | float | np.number):
        yield round(float(value), 5)
    elif isinstance(value, np.ndarray):
        yield from (round(float(each), 5) for each in value.reshape(-1)[:16])
    elif isinstance(value, dict):
        yield from _leaves(list(value.values()))
    elif isinstance(value, list | tuple):
        yield from (leaf for each in value for leaf in _leaves(each))
    elif hasattr(value, "__dataclass_fields__"):
        yield from _leaves([getattr(value, name) for name in value.__dataclass_fields__])
