"""Resuming a run from its latest checkpoint."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.config.overrides import nested
from regard.config.resolve import Layer, Resolved, resolve
from regard.config.settings import flatten
from regard.errors import ConfigError, RunError
from regard.models.base.settings import ModelSettings
from regard.models.families import family
from regard.processes import is_main_process
from regard.progress import Progress
from regard.reporting.bars import as_progress
from regard.runs.execute import RunSpec, Start, execute
from regard.runs.reports.card import leave_card
from regard.runs.run import Run
from regard.runs.store.process import is_of_this_launch
from regard.tasks.contract import find_task
from regard.tasks.record import RECORD, RunRecord
from regard.tasks.settings import RunSettings
from regard.training.settings import MachineSettings

MAY_CHANGE = (
    "train.steps",
    "train.epochs",
    "train.patience",
    "train.log_every",
    "train.save_every",
    "train.keep_best",
    "train.keep_last",
    "train.async_save",
    "train.rollbacks",
    "train.micro_batch_tokens",
    "train.distributed",
    "train.activation_checkpointing",
    "machine.",
)
"""Settings that may change when a run is resumed: how long and where it trains, not what it learns."""


def resume(
    path: str | Path,
    overrides: Mapping[str, Any] | None = None,
    *,
    force: bool = False,
    progress: Progress | bool | None = None,
    data: object = None,
    began: float | None = None,
) -> Run:
    """Resume a run from its latest checkpoint, nothing replayed; only settings in MAY_CHANGE may change.

    Data that changed is refused, except with `force`. `data` are for runs that share them; `began` as for `train`.
    """
    progress, run = as_progress(progress), Run(Path(path))
    record = run.record
    changes = nested(overrides or {})
    changed = [name for name, _ in flatten(changes)]
    settings = _resumed(run, changes)
    for name in changed:
        if not name.startswith(MAY_CHANGE):
            raise ConfigError(
                f"{name}: a resumed run cannot change this setting (only {', '.join(MAY_CHANGE)}*); start a new run."
            )
    done = record.steps or 0
    if record.state == "finished" and is_of_this_launch(record.process):
        if is_main_process():
            leave_card(run, progress)  # whose last part a process that ended may not have written
        return run
    if record.state == "finished" and settings.train.schedule == "wsd" and record.steps is not None:
        raise RunError(
            f"{path}: this run is finished at step {done:,}, its learning rate has fallen to 0; start a new run."
        )
    is_longer = {"train.steps", "train.epochs"} & set(changed) or record.updates > done
    if record.state == "finished" and (settings.train.steps <= done or not is_longer):
        way = "train.steps=N above that" if settings.train.epochs is None else "train.epochs=N above those it has had"
        raise RunError(f"{path}: this run is finished at step {done:,}; to train it further, give {way}.")
    if record.state != "finished" and "train.steps" in changed and settings.train.steps < done:
        raise RunError(f"{path}: {done:,} steps are done already; give train.steps=N above that, or leave it out.")
    _compare_files(record, settings, progress, force)
    sources = record.sources | dict.fromkeys(changed, "the command line")
    has_checkpoint = run.has_checkpoint
    if not has_checkpoint:
        progress.info(f"{run.path}: stopped before its first checkpoint, so it starts again from step 0.")
    elif settings.train.schedule in ("cosine", "linear"):
        for name in ("steps", "epochs"):
            if f"train.{name}" in changed:
                before, now = record.settings.train.get(name), getattr(settings.train, name)
                progress.warn(
                    f"train.{name}: the {settings.train.schedule} schedule is stretched from {before:,} to {now:,} "
                    f"{name}, so the learning rate jumps here."
                )
                break
    start: Start = "resume" if has_checkpoint else "again"
    return execute(run, RunSpec(Resolved(settings, sources), start, force, data=data, began=began), progress)


def _resumed(run: Run, changes: Mapping[str, object]) -> RunSettings[ModelSettings]:
    """Return the settings of a run with these changes."""
    record = run.record
    old = record.settings.plain
    try:
        schema = find_task(record.task).settings(family(record.settings.model.family).settings)
        resolve(schema, [Layer("the run", old)])
    except ConfigError as error:
        reason = str(error).splitlines()[0]
        raise RunError(f"{run.path / RECORD}: these settings cannot be resumed: {reason}") from None
    return resolve(schema, [Layer("the run", old), Layer("the command line", changes)]).settings


def resumed_machine(path: Path, overrides: Mapping[str, object]) -> MachineSettings:
    """Return the machine that a run resumes on."""
    return _resumed(Run(path), nested(overrides)).machine


def _compare_files(record: RunRecord, settings: RunSettings[ModelSettings], progress: Progress, force: bool) -> None:
    """Refuse files that are not what the run began with."""
    if record.data is None:
        return
    hashes = find_task(settings.task).file_hashes(settings)
    for name, known in record.report.files.items():
        if name not in hashes:
            where = "" if Path(name).is_absolute() else f" in {Path.cwd()}"
            raise RunError(
                f"{name}: the run was trained on this file, but it is missing{where}; put it back to resume."
            )
        if hashes[name] == known:
            continue
        if not force:
            raise RunError(
                f"{name}: the file changed since the run began, so resuming would not continue the same run; "
                f"restore it, start a new run, or resume regardless with --force."
            )
        progress.warn(f"{name}: the file is not what the run began with; continuing with it as it is now.")
