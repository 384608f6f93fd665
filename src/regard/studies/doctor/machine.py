"""The memory trial: training on the largest micro-batch, measured against the memory of the device."""

import gc
from typing import Any

import torch

from regard.progress import SILENT, Progress
from regard.studies.doctor.largest_batch import LargestBatch, largest_batch
from regard.studies.doctor.memory import available_bytes, peak_bytes, size_words
from regard.studies.doctor.trial import Trial, TrialSetup, isolated_trial
from regard.tasks.contract import find_task
from regard.tasks.findings import Finding, graded

TIGHT, FULL = 0.8, 0.95
"""Fractions of the memory from which usage is a warning, and a problem."""
ROOM = 0.6
"""Fraction of the memory that a remedy aims at."""
COPIES = 16
"""Bytes per parameter: its value, its gradient and two moments of Adam, in fp32."""


def memory_findings(setup: TrialSetup, progress: Progress = SILENT) -> list[Finding]:
    """Return the finding on memory: a trial update on the largest micro-batch of the first epoch."""
    device = setup.machine.device
    if peak_bytes(device) is None or available_bytes(device) is None:
        sentence = f"The memory of {device} cannot be measured here."
        return [Finding("machine", "memory", "note", sentence)]
    limit = setup.train.micro_batch_tokens or setup.machine.micro_batch_tokens
    with progress.bar("largest batch", 1) as bar:
        finding = _probe(setup, limit)
        bar.advance()
    if device.type == "cuda":
        torch.cuda.empty_cache()
    return [finding]


def _probe(setup: TrialSetup, limit: int) -> Finding:
    device, largest = setup.machine.device, largest_batch(setup, limit)
    gc.collect()
    before = _reset(device)
    available = available_bytes(device) or 0
    measured = _measure(setup, largest, before, available)
    if measured is None:
        return _too_large(setup, largest, limit, available)
    return _verdict(setup, largest, limit, *measured, available)


def _measure(setup: TrialSetup, largest: LargestBatch, before: int, available: int) -> tuple[int, int] | None:
    """Return the peak bytes of training on a batch, and how many do not depend on its rows; None: out of memory.

    A quarter of the rows is tried first, and all of them only if the extrapolation fits.
    """
    device = setup.machine.device
    try:
        with isolated_trial(setup) as trial:
            _twice(trial, largest.part(max(1, largest.rows // 4)))
            fixed = before + COPIES * sum(parameter.numel() for parameter in trial.model.parameters())
            expected = fixed + min(4, largest.rows) * max(0, (peak_bytes(device) or 0) - fixed)
            if device.type == "cpu" and expected > available:  # it would swap, or be killed
                return expected, fixed
            _twice(trial, largest.part(largest.rows))
            return peak_bytes(device) or 0, fixed
    except torch.OutOfMemoryError:
        return None  # the memory is released only after this function returns


def _reset(device: torch.device) -> int:
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)
    return peak_bytes(device) or 0


def _twice(trial: Trial, batch: Any) -> None:
    """Update twice: the optimizer allocates its moments in the first update."""
    for _ in range(2):
        trial.update([batch], rate=1e-9)


def _verdict(
    setup: TrialSetup, largest: LargestBatch, limit: int, needed: int, fixed: int, available: int
) -> Finding:
    severity = graded(needed / max(available, 1), note=2.0, warning=TIGHT, problem=FULL)
    sentence = (
        f"Training on the largest micro-batch ({largest.words}) takes {size_words(needed)} of the "
        f"{size_words(available)} that {setup.machine.device} has."
    )
    metrics = {"peak_bytes": needed, "available_bytes": available}
    if severity in ("ok", "note"):
        return Finding("machine", "memory", "ok", sentence, (), "", {}, metrics)
    fits = limit * (ROOM * available - fixed) / max(1, needed - fixed)
    tokens = int(max(fits, 0) // 256) * 256
    if tokens < largest.longest:
        return Finding("machine", "memory", severity, sentence, (), _smaller(setup), {}, metrics)
    settings = {"train.micro_batch_tokens": tokens}
    return Finding("machine", "memory", severity, sentence, (), "use smaller micro-batches", settings, metrics)


def _smaller(setup: TrialSetup) -> str:
    return f"use a smaller model or {find_task(setup.settings.task).wording.shorten}"


def _too_large(setup: TrialSetup, largest: LargestBatch, limit: int, available: int) -> Finding:
    """Return the finding of an out-of-memory error; the limit is halved until a micro-batch fits."""
    sentence = f"The largest micro-batch ({largest.words}) does not fit into {size_words(available)} of free memory."
    while limit // 2 >= largest.longest:
        limit //= 2
        before = _reset(setup.machine.device)
        if _measure(setup, largest_batch(setup, limit), before, available) is not None:
            settings = {"train.micro_batch_tokens": limit}
            return Finding("machine", "memory", "problem", sentence, (), "use smaller micro-batches", settings)
    return Finding("machine", "memory", "problem", sentence, (), _smaller(setup))
