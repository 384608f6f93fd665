"""A trial on the machine: does the largest micro-batch fit?"""

import gc
from typing import Any

import torch

from regard.progress import SILENT, Progress
from regard.studies.doctor.largest_batch import Heaviest, heaviest
from regard.studies.doctor.memory import gigabytes, peak, within_reach
from regard.studies.doctor.trial import Trial, TrialSetup, trying
from regard.tasks.contract import find_task
from regard.tasks.findings import Finding, graded

TIGHT, FULL = 0.8, 0.95
"""Shares of the memory from which on it is a warning, and a problem."""
ROOM = 0.6
"""The share of the memory that a remedy aims at."""
COPIES = 16
"""Bytes a parameter takes: its value, its gradient, and two moments of Adam."""


def memory_findings(bench: TrialSetup, progress: Progress = SILENT) -> list[Finding]:
    """Return whether the largest micro-batch of the first epoch fits, from really learning from it."""
    device = bench.machine.device
    if peak(device) is None or within_reach(device) is None:
        sentence = f"The memory of {device} cannot be measured here."
        return [Finding("machine", "memory", "note", sentence)]
    limit = bench.train.micro_batch_tokens or bench.machine.micro_batch_tokens
    with progress.bar("try the largest batch", 1) as bar:
        found = _probe(bench, limit)
        bar.advance()
    if device.type == "cuda":
        torch.cuda.empty_cache()
    return [found]


def _probe(bench: TrialSetup, limit: int) -> Finding:
    device, heavy = bench.machine.device, heaviest(bench, limit)
    gc.collect()
    before = _reset(device)
    reach = within_reach(device) or 0
    measured = _measure(bench, heavy, before, reach)
    if measured is None:
        return _too_large(bench, heavy, limit, reach)
    return _verdict(bench, heavy, limit, *measured, reach)


def _measure(bench: TrialSetup, heavy: Heaviest, before: int, reach: int) -> tuple[int, int] | None:
    """Return the bytes it takes to learn from a batch, and how many of them are not for its rows; None: too many.

    A quarter of the rows is tried first, and all of them only if that does not show that they cannot fit.
    """
    device = bench.machine.device
    try:
        with trying(bench) as trial:
            _twice(trial, heavy.part(max(1, heavy.rows // 4)))
            fixed = before + COPIES * sum(parameter.numel() for parameter in trial.model.parameters())
            expected = fixed + min(4, heavy.rows) * max(0, (peak(device) or 0) - fixed)
            if device.type == "cpu" and expected > reach:  # running it would bring the whole machine to its knees
                return expected, fixed
            _twice(trial, heavy.part(heavy.rows))
            return peak(device) or 0, fixed
    except torch.OutOfMemoryError:
        return None  # only outside of this function is everything that was allocated let go of


def _reset(device: torch.device) -> int:
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)
    return peak(device) or 0


def _twice(trial: Trial, batch: Any) -> None:
    """Learn twice: the optimizer's moments exist only after the first time."""
    for _ in range(2):
        trial.update([batch], rate=1e-9)


def _verdict(bench: TrialSetup, heavy: Heaviest, limit: int, needed: int, fixed: int, reach: int) -> Finding:
    share = needed / max(reach, 1)
    severity = graded(share, note=2.0, warning=TIGHT, problem=FULL)
    sentence = (
        f"Learning from the largest micro-batch ({heavy.words}) takes {gigabytes(needed)} of the {gigabytes(reach)} "
        f"that {bench.machine.device} has."
    )
    metrics = {"peak_bytes": needed, "available_bytes": reach}
    if severity in ("ok", "note"):
        return Finding("machine", "memory", "ok", sentence, metrics=metrics)
    fits = limit * (ROOM * reach - fixed) / max(1, needed - fixed)
    tokens = int(max(fits, 0) // 256) * 256
    if tokens < heavy.longest:
        return Finding("machine", "memory", severity, sentence, (), _smaller(bench), metrics=metrics)
    settings = {"train.micro_batch_tokens": tokens}
    return Finding("machine", "memory", severity, sentence, (), "compute less at once", settings, metrics)


def _smaller(bench: TrialSetup) -> str:
    return f"take a smaller model or {find_task(bench.settings.task).wording.shorten}"


def _too_large(bench: TrialSetup, heavy: Heaviest, limit: int, reach: int) -> Finding:
    """Halve the limit until a batch fits: a remedy that has been tried."""
    sentence = f"The largest micro-batch ({heavy.words}) does not fit into the {gigabytes(reach)} that are free."
    while limit // 2 >= heavy.longest:
        limit //= 2
        before = _reset(bench.machine.device)
        if _measure(bench, heaviest(bench, limit), before, reach) is not None:
            settings = {"train.micro_batch_tokens": limit}
            return Finding("machine", "memory", "problem", sentence, (), "compute less at once", settings)
    return Finding("machine", "memory", "problem", sentence, (), _smaller(bench))
