"""A run that goes on where it stopped."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from regard.config.overrides import nested
from regard.config.resolve import Layer, Resolved, resolve
from regard.config.settings import flatten
from regard.errors import ConfigError, RunError
from regard.models.families import family
from regard.progress import SILENT, Progress
from regard.runs.execute import RunSpec, Start, execute
from regard.runs.store.folder import RECORD, Run
from regard.tasks.contract import Prepare, task

MAY_CHANGE = (
    "train.steps",
    "train.epochs",
    "train.patience",
    "train.log_every",
    "train.save_every",
    "train.keep_best",
    "train.keep_last",
    "train.rollbacks",
    "train.micro_batch_tokens",
    "machine.",
)
"""Settings that a resumed run may be given anew: they say how long and where, not what is learned."""


def resume(
    path: str | Path,
    overrides: Mapping[str, Any] | None = None,
    *,
    force: bool = False,
    progress: Progress = SILENT,
    prepare: Prepare | None = None,
) -> Run:
    """Go on with a run from its latest checkpoint, nothing replayed; only settings in MAY_CHANGE may be new.

    Data that changed is refused, unless `force` says that it was meant to. `prepare` is for runs that share data.
    """
    run = Run(Path(path))
    record = run.record
    changes = nested(overrides or {})
    changed = [name for name, _ in flatten(changes)]
    old = record["settings"]
    try:
        schema = task(old["task"]).settings(family(old["model"]["family"]).settings)
        resolve(schema, [Layer("the run", old)])
    except ConfigError as error:
        reason = str(error).splitlines()[0]
        raise RunError(f"{run.path / RECORD}: these settings cannot be gone on with: {reason}") from None
    settings: Any = resolve(schema, [Layer("the run", old), Layer("the command line", changes)]).settings
    for name in changed:
        if not name.startswith(MAY_CHANGE):
            raise ConfigError(
                f"{name}: a resumed run cannot change this setting (only {', '.join(MAY_CHANGE)}*); start a new run."
            )
    is_longer = {"train.steps", "train.epochs"} & set(changed) or record.get("updates", 0) > record.get("steps", 0)
    if record["state"] == "finished" and (settings.train.steps <= record["steps"] or not is_longer):
        way = "train.steps=N above that" if settings.train.epochs is None else "train.epochs=N above those it has had"
        raise RunError(f"{path}: this run is finished at step {record['steps']:,}; to go on, give {way}.")
    done = record.get("steps", 0)
    if record["state"] != "finished" and "train.steps" in changed and settings.train.steps < done:
        raise RunError(f"{path}: {done:,} steps are done already; give train.steps=N above that, or leave it out.")
    _compare_files(record, settings, progress, force)
    sources = record["sources"] | dict.fromkeys(changed, "the command line")
    has_checkpoint = run.has_checkpoint
    if not has_checkpoint:
        progress.say(f"{run.path}: stopped before its first checkpoint, so it starts again from step 0.")
    elif settings.train.schedule in ("cosine", "linear") and "train.steps" in changed:
        progress.warn(
            f"train.steps: the {settings.train.schedule} schedule is stretched from {old['train']['steps']:,} to "
            f"{settings.train.steps:,} steps, so the learning rate jumps here."
        )
    elif settings.train.schedule in ("cosine", "linear") and "train.epochs" in changed:
        progress.warn(
            f"train.epochs: the {settings.train.schedule} schedule is stretched from {old['train']['epochs']} to "
            f"{settings.train.epochs} epochs, so the learning rate jumps here."
        )
    start: Start = "resume" if has_checkpoint else "again"
    return execute(run, RunSpec(Resolved(settings, sources), start=start, is_forced=force, prepare=prepare), progress)


def _compare_files(record: Mapping[str, Any], settings: Any, progress: Progress, force: bool) -> None:
    """Refuse files that are not what the run began with."""
    hashes = task(settings.task).files(settings.data)
    for name, known in record.get("data", {}).get("files", {}).items():
        if name not in hashes:
            where = "" if Path(name).is_absolute() else f" in {Path.cwd()}"
            raise RunError(
                f"{name}: the run was trained on this file, but it is missing{where}; put it back to resume."
            )
        if hashes[name] == known:
            continue
        if not force:
            raise RunError(
                f"{name}: the file changed since the run began, so going on would not be the same run; bring it "
                f"back, start a new run, or go on regardless with --force."
            )
        progress.warn(f"{name}: the file is not what the run began with; going on with it as it is now.")
