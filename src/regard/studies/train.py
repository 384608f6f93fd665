"""From a recipe to a run."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from regard.checkpoint import Keeping, TrainingState, read_bundle, read_training
from regard.config import Layer, Resolved, flatten, nested, resolve
from regard.data.pairs import Pair
from regard.errors import ConfigError, DataError, RegardError, RunError
from regard.models import family
from regard.pipelines import load
from regard.progress import SILENT, Progress
from regard.studies.evaluate import evaluate
from regard.studies.prepared import Prepared
from regard.studies.recipes import Recipe, find_recipe, resolve_run
from regard.studies.run import Run, abandon, claim, clear_leftovers, missing_folders
from regard.studies.tasks import task
from regard.studies.translation import file_hashes
from regard.training import (
    Hooks,
    LoopState,
    Machine,
    MetricsLog,
    Reason,
    Team,
    Trainer,
    TrainSettings,
    join_team,
    leads,
    prepare_machine,
)
from regard.version import __version__

MAY_CHANGE = (
    "train.steps",
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

Pairs = Sequence[tuple[str, str]]


def train(
    recipe: str | Path | Mapping[str, Any] | Pairs,
    overrides: Mapping[str, Any] | None = None,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress = SILENT,
) -> Run:
    """Train a model and return its run.

    `recipe` is a shipped recipe's name, a task's name, the path of a TOML file, nested settings, or a list of
    (source, target) pairs; `overrides` are settings by dotted name.
    """
    pairs: Pairs | None = None
    if isinstance(recipe, (str, Path)):
        found = find_recipe(str(recipe))
    elif isinstance(recipe, Mapping):
        found = Recipe(str(recipe.get("task", "run")), "the call", recipe)
    else:
        pairs, found = recipe, find_recipe("translate")
    path = Path(out) if out is not None else Path("runs") / found.name
    if pairs is not None:  # kept beside the run, so that it can be resumed like any other
        kept = {"data": {"train": {"path": str(path / "pairs.jsonl")}}}
        found = Recipe(found.name, found.origin, {**found.values, **kept})
    resolved = resolve_run(found, overrides or {})
    if not leads():
        return execute(Run(path), resolved, progress)
    run = claim(path, overwrite)
    made = missing_folders(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        run.note(state="preparing", **_begun(resolved))  # from here on a killed run can be resumed
        if pairs is not None:
            _write_pairs(path / "pairs.jsonl", pairs)
        return execute(run, resolved, progress)
    except BaseException:
        abandon(run, made)
        raise


def resume(
    path: str | Path,
    overrides: Mapping[str, Any] | None = None,
    *,
    force: bool = False,
    progress: Progress = SILENT,
) -> Run:
    """Go on with a run from its latest checkpoint, nothing replayed; only settings in MAY_CHANGE may be new.

    A data file that changed is refused, unless `force` says that it was meant to.
    """
    run = Run(Path(path))
    record = run.record
    changes = nested(overrides or {})
    changed = [name for name, _ in flatten(changes)]
    for name in changed:
        if not name.startswith(MAY_CHANGE):
            raise ConfigError(
                f"{name}: a resumed run cannot change this setting (only {', '.join(MAY_CHANGE)}*); start a new run."
            )
    if leads():
        clear_leftovers(run)
    old = record["settings"]
    schema = task(old["task"]).settings(family(old["model"]["family"]).settings)
    settings: Any = resolve(schema, [Layer("the run", old), Layer("the command line", changes)]).settings
    _compare_files(record, settings, progress, force)
    sources = record["sources"] | dict.fromkeys(changed, "the command line")
    if not run.has_checkpoint:
        progress.say(f"{run.path}: stopped before its first checkpoint, so it starts again from step 0.")
    return execute(run, Resolved(settings, sources), progress, is_resumed=run.has_checkpoint)


def _compare_files(record: Mapping[str, Any], settings: Any, progress: Progress, force: bool) -> None:
    """Refuse data that is not what the run began with."""
    hashes = file_hashes(settings.data)
    for name, known in record.get("data", {}).get("files", {}).items():
        if hashes.get(name) == known:
            continue
        if not force:
            raise RunError(
                f"{name}: the file {'changed' if name in hashes else 'is gone'} since the run began, so going on "
                f"would not be the same run; bring it back, start a new run, or go on regardless with --force."
            )
        progress.warn(f"{name}: the file is not what the run began with; going on with it as it is now.")


def _write_pairs(path: Path, pairs: Pairs) -> None:
    if not pairs:
        raise DataError("There are no sentence pairs to train on; give at least a few hundred.")
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = (json.dumps(Pair(*pair)._asdict(), ensure_ascii=False) for pair in pairs)
    path.write_text("".join(row + "\n" for row in rows), encoding="utf-8")


def execute(
    run: Run,
    resolved: Resolved[Any],
    progress: Progress = SILENT,
    *,
    is_resumed: bool = False,
    is_scored: bool = True,
    stop_at: int | None = None,
) -> Run:
    """Prepare, train (until a step, if given, as if interrupted there), and score on the test sets."""
    settings = resolved.settings
    machine = prepare_machine(settings.machine)
    begin = run.checkpoints.resumable() if is_resumed else None
    bundle = read_bundle(begin[0], machine.device) if begin else None
    with join_team(machine.device) as team:
        progress = progress if team.is_leader else SILENT
        prepared = task(settings.task).prepare(settings, machine, progress, bundle)
        hooks = _hooks(run, prepared, settings.train, team, progress)
        model, feed, objective = prepared.bundle.model, prepared.feed, prepared.objective
        trainer = Trainer(
            model,
            feed,
            objective,
            settings.train,
            machine,
            hooks,
            seed=settings.seed,
            width=prepared.width,
            team=team,
        )
        if begin:
            trainer.restore(read_training(begin[0]))
            if run.record["settings"]["train"]["micro_batch_tokens"] != settings.train.micro_batch_tokens:
                trainer.state.micro_batch_limit = None  # the user knows better than what was found out before
        team.wait()  # everybody has read what the leader may now change
        if team.is_leader:
            if begin:
                _step_back(run, *begin, trainer.state.step, progress)
            _open(run, resolved, prepared, machine, progress)
        with MetricsLog(
            run.path, trainer.state.step, settings.train.tensorboard, is_silent=not team.is_leader
        ) as log:
            trainer.hooks = trainer.hooks.recording(log.write, log.forget)
            try:
                reason = trainer.run(stop_at)
            except RegardError:
                if team.is_leader:
                    with suppress(OSError):  # a full disk may be the very reason
                        run.note(state="failed")
                raise
        if team.is_leader:
            _close(run, prepared, trainer.state, reason, progress, is_scored)
        team.wait()
    return run


def _hooks(run: Run, prepared: Prepared, settings: TrainSettings, team: Team, progress: Progress) -> Hooks:
    keeping = Keeping(settings.keep_last, settings.keep_best)

    def save(state: LoopState, training: TrainingState, value: float | None) -> None:
        if team.is_leader:
            run.checkpoints.save(state.step, prepared.bundle, training, value, keeping)

    return Hooks(prepared.validate, save, progress=progress)


def _step_back(run: Run, folder: Path, damages: Sequence[Exception], step: int, progress: Progress) -> None:
    """Say which checkpoints are damaged, and let go of them."""
    for damage in damages:
        progress.warn(f"{damage} Going on from the checkpoint before it, step {step:,}.")
    if damages:
        run.checkpoints.forget_after(folder)


def _begun(resolved: Resolved[Any]) -> dict[str, Any]:
    """Return what is known of a run before its data is read."""
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "regard": __version__,
        "task": resolved.settings.task,
        "settings": resolved.settings.model_dump(mode="json"),
        "sources": resolved.sources,
    }


def _open(run: Run, resolved: Resolved[Any], prepared: Prepared, machine: Machine, progress: Progress) -> None:
    known, found = run.record.get("machine", {}) if run.exists else {}, machine.describe()
    changed = [
        f"{name} {known[name]}, now {value}" for name, value in found.items() if known.get(name, value) != value
    ]
    if changed:
        progress.warn(
            f"{run.path}: began with {'; '.join(changed)}: the run goes on, but not to the last bit as it would have."
        )
    run.note(
        state="running",
        **_begun(resolved),
        data=prepared.facts,
        machine=found,
        parameters=sum(parameter.numel() for parameter in prepared.bundle.model.parameters()),
    )


def _close(
    run: Run, prepared: Prepared, state: LoopState, reason: Reason, progress: Progress, is_scored: bool
) -> None:
    run.note(state=reason, steps=state.step, best_step=state.best_step, seconds=round(state.seconds, 1))
    if reason == "interrupted" or not is_scored:
        return
    pipeline = load(run.best, str(next(prepared.bundle.model.parameters()).device))
    scores = {name: asdict(evaluate(pipeline, pairs, name, progress)) for name, pairs in prepared.tests.items()}
    run.note(scores=scores)
