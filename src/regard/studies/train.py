"""From a recipe to a run."""

import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from regard.checkpoint import TrainingState, read_bundle, read_training
from regard.config import Layer, Resolved, flatten, nested, resolve
from regard.data.pairs import Pair
from regard.errors import ConfigError, DataError, RunError
from regard.models import family
from regard.pipelines import load
from regard.progress import SILENT, Progress
from regard.studies.card import leave_card
from regard.studies.measure import score_tests
from regard.studies.prepared import Prepared
from regard.studies.process import this_process
from regard.studies.recipes import Recipe, find_recipe, resolve_run
from regard.studies.run import Run, claim
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
    join_team,
    leads,
    prepare_machine,
)
from regard.version import __version__

MAY_CHANGE = ("train.steps", "train.patience", "train.log_every", "train.micro_batch_tokens", "machine.")
"""Settings that a resumed run may be given anew: they say how long and where, not what is learned."""

Pairs = Sequence[tuple[str, str]]
PAIRS = "pairs.jsonl"


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
    if pairs is not None:
        kept = {"data": {"train": {"path": str(path / PAIRS)}}}
        found = Recipe(found.name, found.origin, {**found.values, **kept})
    resolved = resolve_run(found, overrides or {})
    run = claim(path, overwrite) if leads() else Run(path)
    if pairs is None:
        return _execute(run, resolved, progress)
    if not pairs:
        raise DataError("There are no sentence pairs to train on; give at least a few hundred.")
    return _execute(run, resolved, progress, pairs=[Pair(*pair) for pair in pairs])


def resume(path: str | Path, overrides: Mapping[str, Any] | None = None, *, progress: Progress = SILENT) -> Run:
    """Go on with a run from its latest checkpoint, nothing replayed; only settings in MAY_CHANGE may be new."""
    run = Run(Path(path))
    record = run.record
    changes = nested(overrides or {})
    changed = [name for name, _ in flatten(changes)]
    old = record["settings"]
    schema = task(old["task"]).settings(family(old["model"]["family"]).settings)
    settings: Any = resolve(schema, [Layer("the run", old), Layer("the command line", changes)]).settings
    for name in changed:
        if not name.startswith(MAY_CHANGE):
            raise ConfigError(
                f"{name}: a resumed run cannot change this setting (only {', '.join(MAY_CHANGE)}*); start a new run."
            )
    if record["state"] == "finished" and settings.train.steps <= record["steps"]:
        raise RunError(
            f"{path}: this run is finished at step {record['steps']:,}; to go on, give train.steps=N above that."
        )
    if settings.train.schedule in ("cosine", "linear") and "train.steps" in changed:
        progress.warn(
            f"train.steps: the {settings.train.schedule} schedule is stretched from {old['train']['steps']:,} to "
            f"{settings.train.steps:,} steps, so the learning rate jumps here."
        )
    hashes = file_hashes(settings.data)
    for name, known in record["data"]["files"].items():
        if name not in hashes:
            where = "" if Path(name).is_absolute() else f" in {Path.cwd()}"
            raise RunError(
                f"{name}: the run was trained on this file, but it is missing{where}; put it back to resume."
            )
        if hashes[name] != known:
            raise RunError(f"{name}: the file changed since the run began, so it cannot be resumed; start a new run.")
    sources = record["sources"] | dict.fromkeys(changed, "the command line")
    return _execute(run, Resolved(settings, sources), progress, is_resumed=True)


def _execute(
    run: Run,
    resolved: Resolved[Any],
    progress: Progress,
    *,
    is_resumed: bool = False,
    pairs: Sequence[Pair] | None = None,
) -> Run:
    """Prepare, train, and score on the test sets; the run's folder is touched only once its data is ready."""
    settings = resolved.settings
    machine = prepare_machine(settings.machine)
    bundle = read_bundle(run.latest, machine.device) if is_resumed else None
    with join_team(machine.device) as team:
        progress = progress if team.is_leader else SILENT
        prepared = task(settings.task).prepare(settings, machine, progress, bundle, pairs)
        trainer = Trainer(
            prepared.bundle.model,
            prepared.feed,
            prepared.objective,
            settings.train,
            machine,
            _hooks(run, prepared, team, progress),
            seed=settings.seed,
            width=prepared.width,
            team=team,
        )
        if is_resumed:
            _compare(run.record, prepared, machine, team, progress)
            trainer.restore(read_training(run.latest))
        if team.is_leader and not is_resumed:
            run.begin()
            if pairs is not None:
                _write_pairs(run.path / PAIRS, pairs)
        with run.in_hand() if team.is_leader else nullcontext():
            if team.is_leader:
                _open(run, resolved, prepared, machine, team)
            _train(run, trainer, prepared, progress)
            team.wait()
    return run


def _train(run: Run, trainer: Trainer, prepared: Prepared, progress: Progress) -> None:
    is_leader = trainer.team.is_leader
    with MetricsLog(run.path, trainer.state.step, trainer.settings.tensorboard, is_silent=not is_leader) as log:
        trainer.hooks = trainer.hooks.recording(log.write)
        reason = trainer.run()
    if is_leader:
        _close(run, prepared, trainer.state, reason, progress)


def _write_pairs(path: Path, pairs: Sequence[Pair]) -> None:
    """Keep pairs that came from memory beside the run, so that it can be resumed like any other."""
    rows = (json.dumps(pair._asdict()) for pair in pairs)
    path.write_text("".join(row + "\n" for row in rows), encoding="utf-8")


def _hooks(run: Run, prepared: Prepared, team: Team, progress: Progress) -> Hooks:
    def save(state: LoopState, training: TrainingState, is_best: bool) -> None:
        if team.is_leader:
            run.checkpoints.save(state.step, prepared.bundle, training, is_best)

    return Hooks(prepared.validate, save, progress=progress)


def _compare(record: dict[str, Any], prepared: Prepared, machine: Machine, team: Team, progress: Progress) -> None:
    """Refuse other data than the run began with, and say what else is not as it was."""
    if record["data"].get("hash") != prepared.facts["hash"]:
        raise RunError("The training data is not what the run began with, so it cannot be resumed; start a new run.")
    before = record["machine"]
    for name, value in _describe(machine, team).items():
        if before.get(name) != value:
            change = f"{name} was {before.get(name)} and is {value} now"
            progress.warn(f"{change}: the run goes on, but not to the bit as it would have.")


def _describe(machine: Machine, team: Team) -> dict[str, str | int]:
    return machine.describe() | {"processes": team.size, "regard": __version__}


def _open(run: Run, resolved: Resolved[Any], prepared: Prepared, machine: Machine, team: Team) -> None:
    run.note(
        state="running",
        process=this_process(),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        regard=__version__,
        task=resolved.settings.task,
        settings=resolved.settings.model_dump(mode="json"),
        sources=resolved.sources,
        data=prepared.facts,
        machine=_describe(machine, team),
        parameters=sum(parameter.numel() for parameter in prepared.bundle.model.parameters()),
    )


def _close(run: Run, prepared: Prepared, state: LoopState, reason: Reason, progress: Progress) -> None:
    run.note(steps=state.step, best_step=state.best_step, seconds=round(state.seconds, 1))
    if reason == "interrupted":
        run.note(state=reason)
    else:
        pipeline = load(run.best, str(next(prepared.bundle.model.parameters()).device))
        run.note(state=reason, scores=score_tests(run, pipeline, prepared, progress))
    leave_card(run, progress)
