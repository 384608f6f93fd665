"""Evaluation as users call it: a model on data or on its own test sets; its run's card shows the result."""

from pathlib import Path
from typing import Any

from regard.progress import SILENT, Progress
from regard.runs.reports.card import leave_card
from regard.runs.scores.evaluate import evaluate_sets
from regard.runs.store.folder import RunFolder
from regard.tasks.evaluation import Evaluation
from regard.training.device.machine import choose_device
from regard.training.parallel.division import divided
from regard.training.parallel.process_group import init_process_group


def evaluate(
    model: object,
    data: object = None,
    *,
    test_set: str | None = None,
    against: object = None,
    out: str | Path | None = None,
    device: str = "auto",
    progress: Progress = SILENT,
    **options: Any,
) -> dict[str, Evaluation]:
    """Evaluate a model on data or on its own test sets, and return the evaluation of each set by name.

    `model` is a pipeline, a `Run`, or the path of a run, a checkpoint, hf:DIR or a file of word vectors; `data` is
    rows from memory, a path, or a source as settings name it. `against` is another model, a passport, or a file with
    one output a line: the evaluation then has a `comparison` by a paired bootstrap test. `out` is a .json file or a
    folder for score passports; `options` are those of the task, such as beam_size. Processes that torchrun has
    started divide the rows; the main one has intervals, and writes.
    """
    given: dict[str, Any] = {"test_set": test_set, "against": against, "out": out, "device": device}
    with init_process_group(choose_device(device)) as team, divided(team):
        own = progress if team.is_main else SILENT
        evaluations = evaluate_sets(model, data, **given, options=options, progress=own)
    if not team.is_main:
        return evaluations
    run = RunFolder(Path(model)) if isinstance(model, (str, Path)) else model
    if isinstance(run, RunFolder) and run.exists and run.record.is_prepared and _is_kept(run, evaluations):
        leave_card(run, progress, redraws=False)
    return evaluations


def _is_kept(run: RunFolder, evaluations: dict[str, Evaluation]) -> bool:
    """Return whether a passport was written into the run."""
    return any(run.path in file.parents for each in evaluations.values() for file in each.files)
