"""A trial on the machine: does the largest micro-batch fit?"""

import gc

import numpy as np
import torch

from regard.data.feed import Examples
from regard.data.sampler import Rows, micro_batches, plan_updates
from regard.progress import SILENT, Progress
from regard.studies.doctor.findings import Finding, graded
from regard.studies.doctor.memory import gigabytes, peak, within_reach
from regard.studies.doctor.trial import Bench, Trial, trying

TIGHT, FULL = 0.8, 0.95
"""Shares of the memory from which on it is a warning, and a problem."""
ROOM = 0.6
"""The share of the memory that a remedy aims at."""
COPIES = 16
"""Bytes a parameter takes: its value, its gradient, and two moments of Adam."""


def memory_findings(bench: Bench, progress: Progress = SILENT) -> list[Finding]:
    """Return whether the largest micro-batch of the first epoch fits, from really learning from it."""
    device = bench.machine.device
    if peak(device) is None or within_reach(device) is None:
        sentence = f"The memory of {device} cannot be measured here."
        return [Finding("machine", "memory", "note", sentence)]
    limit = bench.material.settings.train.micro_batch_tokens or bench.machine.micro_batch_tokens
    pairs = bench.prepared.feed.corpus(0)  # type: ignore[attr-defined]
    with progress.bar("try the largest batch", 1) as bar:
        found = _probe(bench, pairs, limit)
        bar.advance()
    if device.type == "cuda":
        torch.cuda.empty_cache()
    return [found]


def heaviest(bench: Bench, pairs: Examples, limit: int) -> Rows:
    """Return the rows of the micro-batch of the first epoch that takes the most memory."""
    settings = bench.material.settings
    lengths = pairs.lengths
    updates = plan_updates(*lengths, settings.train.tokens_per_update, settings.seed, 0)
    parts = [part for update in updates for part in micro_batches(update, *lengths, limit)]

    def size(rows: Rows) -> float:
        source, target = (int(side[rows].max()) for side in lengths)
        # Attention weights grow with the square of the length where no fused kernel hides them.
        return len(rows) * (source + target + (source**2 + target**2 + source * target) / settings.model.width)

    return max(parts, key=size)


def _probe(bench: Bench, pairs: Examples, limit: int) -> Finding:
    device, rows = bench.machine.device, heaviest(bench, pairs, limit)
    gc.collect()
    before = _reset(device)
    reach = within_reach(device) or 0
    measured = _measure(bench, pairs, rows, before, reach)
    if measured is None:
        return _too_large(bench, pairs, rows, limit, reach)
    return _verdict(bench, pairs, rows, limit, *measured, reach)


def _measure(bench: Bench, pairs: Examples, rows: Rows, before: int, reach: int) -> tuple[int, int] | None:
    """Return the bytes it takes to learn from some rows, and how many of them are not for the batch; None: too many.

    A quarter of the rows is tried first, and all of them only if that does not show that they cannot fit.
    """
    device = bench.machine.device
    try:
        with trying(bench) as trial:
            _twice(trial, pairs, rows[: max(1, len(rows) // 4)])
            fixed = before + COPIES * sum(parameter.numel() for parameter in trial.model.parameters())
            expected = fixed + 4 * max(0, (peak(device) or 0) - fixed)
            if device.type == "cpu" and expected > reach:  # running it would bring the whole machine to its knees
                return expected, fixed
            _twice(trial, pairs, rows)
            return peak(device) or 0, fixed
    except torch.OutOfMemoryError:
        return None  # only outside of this function is everything that was allocated let go of


def _reset(device: torch.device) -> int:
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)
    return peak(device) or 0


def _twice(trial: Trial, pairs: Examples, rows: Rows) -> None:
    """Learn twice: the optimizer's moments exist only after the first time."""
    for _ in range(2):
        trial.update([pairs.batch(rows)], rate=1e-9)


def _described(pairs: Examples, rows: Rows) -> str:
    source, target = (int(side[rows].max()) for side in pairs.lengths)
    return f"the largest micro-batch ({len(rows):,} pairs of up to {source} and {target} tokens)"


def _verdict(bench: Bench, pairs: Examples, rows: Rows, limit: int, needed: int, fixed: int, reach: int) -> Finding:
    share = needed / max(reach, 1)
    severity = graded(share, note=2.0, warning=TIGHT, problem=FULL)
    sentence = (
        f"Learning from {_described(pairs, rows)} takes {gigabytes(needed)} of the {gigabytes(reach)} that "
        f"{bench.machine.device} has."
    )
    figures = {"peak_bytes": needed, "available_bytes": reach}
    if severity in ("ok", "note"):
        return Finding("machine", "memory", "ok", sentence, figures=figures)
    fits = limit * (ROOM * reach - fixed) / max(1, needed - fixed)
    tokens = int(max(fits, 0) // 256) * 256
    longest = int(np.add(*pairs.lengths).max())
    if tokens < longest:
        remedy = "take a smaller model or shorter sentences (data.cleaning.max_tokens)"
        return Finding("machine", "memory", severity, sentence, (), remedy, figures=figures)
    settings = {"train.micro_batch_tokens": tokens}
    return Finding("machine", "memory", severity, sentence, (), "compute less at once", settings, figures)


def _too_large(bench: Bench, pairs: Examples, rows: Rows, limit: int, reach: int) -> Finding:
    """Halve the limit until a batch fits: a remedy that has been tried."""
    sentence = f"{_described(pairs, rows).capitalize()} does not fit into the {gigabytes(reach)} that are free."
    longest = int(np.add(*pairs.lengths).max())
    while limit // 2 >= longest:
        limit //= 2
        before = _reset(bench.machine.device)
        if _measure(bench, pairs, heaviest(bench, pairs, limit), before, reach) is not None:
            settings = {"train.micro_batch_tokens": limit}
            return Finding("machine", "memory", "problem", sentence, (), "compute less at once", settings)
    remedy = "take a smaller model or shorter sentences (data.cleaning.max_tokens)"
    return Finding("machine", "memory", "problem", sentence, (), remedy)
