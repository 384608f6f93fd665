"""The work of a run: prepare its data, train, keep its record, and score the result."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from regard.checkpoint.bundle import TrainingState, read_bundle, read_training
from regard.checkpoint.store import Keeping
from regard.config.resolve import Resolved
from regard.data.sources.pair import Pair
from regard.errors import RegardError, RunError
from regard.progress import SILENT, Progress
from regard.runs.reports.card import leave_card
from regard.runs.store.folder import Run, abandon, clear_leftovers, missing_folders
from regard.runs.store.process import this_process
from regard.tasks.contract import Prepare, task
from regard.tasks.data import Prepared
from regard.tasks.load import load
from regard.training.device.machine import Machine, prepare_machine
from regard.training.loop import Hooks, Reason, Trainer
from regard.training.metrics_log import MetricsLog
from regard.training.parallel.process_group import ProcessGroup, init_process_group
from regard.training.settings import TrainSettings
from regard.training.state import LoopState
from regard.version import __version__

Start = Literal["new", "replace", "again", "resume"]
"""In a free folder; in place of an old run, which stays until the data is ready; the same run from step 0; from its
latest checkpoint."""


@dataclass(frozen=True)
class RunSpec:
    """What is to be done in the folder of a run."""

    resolved: Resolved[Any]
    pairs: Sequence[Pair] | None = None
    """Training pairs that come from memory."""
    start: Start = "new"
    is_forced: bool = False
    """Whether a resumed run may go on with other data."""
    is_scored: bool = True
    """Whether the result is scored on the test sets and has a card."""
    stop_at: int | None = None
    """A step to stop at as if interrupted."""
    prepare: Prepare | None = None
    """What makes the data ready in place of the task, for runs that share it."""

    @property
    def begins(self) -> dict[str, Any]:
        """What is known of a run before its data is read."""
        return {
            "process": this_process(),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "regard": __version__,
            "task": self.resolved.settings.task,
            "settings": self.resolved.settings.model_dump(mode="json"),
            "sources": self.resolved.sources,
        }


def execute(run: Run, job: RunSpec, progress: Progress = SILENT) -> Run:
    """Prepare, train, and score on the test sets."""
    settings = job.resolved.settings
    machine = prepare_machine(settings.machine)
    with init_process_group(machine.device) as team, _folder(run, job) if team.is_main else nullcontext():
        progress = progress if team.is_main else SILENT
        begin = run.checkpoints.resumable() if job.start == "resume" else None
        bundle = read_bundle(begin[0], machine.device) if begin else None
        prepare = job.prepare or task(settings.task).prepare
        prepared = prepare(settings, machine, progress, bundle, job.pairs)
        counted = settings.train
        if counted.depends_on_data:
            counted = counted.planned(prepared.feed.updates_in(epoch=0))
        trainer = prepared.trainer(
            prepared.bundle.model,
            prepared.feed,
            prepared.objective,
            counted,
            machine,
            _hooks(run, prepared, counted, team, progress),
            seed=settings.seed,
            width=prepared.width,
            team=team,
        )
        if begin:
            _compare(run.record, prepared, _describe(machine, team), progress, job.is_forced)
            trainer.restore(read_training(begin[0]))
            limit = getattr(settings.train, "micro_batch_tokens", None)
            if run.record["settings"]["train"].get("micro_batch_tokens") != limit:
                trainer.state.micro_batch_limit = None  # the user knows better than what was found out before
        team.wait()  # everybody has read what the leader may now change
        if team.is_main:
            if begin:
                _step_back(run, *begin, trainer.state.step, progress)
            _open(run, job, prepared, _describe(machine, team), counted.steps)
        reason = _train(run, trainer, job.stop_at)
        if team.is_main:
            _close(run, prepared, trainer.state, reason, progress, job.is_scored)
        team.wait()
    return run


@contextmanager
def _folder(run: Run, job: RunSpec) -> Iterator[None]:
    """Keep the run's folder to this process; a new one is recorded at once, and gone if it never begins to train."""
    made = missing_folders(run.path)
    run.path.mkdir(parents=True, exist_ok=True)
    with run.in_hand():
        clear_leftovers(run)
        if job.start != "new":
            yield
            return
        run.check_free()  # nobody was faster
        try:
            run.begin({"state": "preparing"} | job.begins, job.pairs)  # from here on a kill can be resumed
            yield
        except BaseException:
            abandon(run, made)
            raise


def _train(run: Run, trainer: Trainer, stop_at: int | None) -> Reason:
    is_main = trainer.team.is_main
    with MetricsLog(run.path, trainer.state.step, trainer.settings.tensorboard, is_silent=not is_main) as log:
        trainer.hooks = trainer.hooks.recording(log.write, log.forget)
        try:
            return trainer.run(stop_at)
        except RegardError:
            if is_main:
                with suppress(OSError):  # a full disk may be the very reason
                    run.note(state="failed")
            raise


def _hooks(run: Run, prepared: Prepared, settings: TrainSettings, team: ProcessGroup, progress: Progress) -> Hooks:
    keeping = Keeping(settings.keep_last, settings.keep_best)

    def save(state: LoopState, training: TrainingState, value: float | None) -> None:
        if team.is_main:
            run.checkpoints.save(state.step, prepared.bundle, training, value, keeping)

    return Hooks(prepared.validate, save, progress=progress)


def _compare(
    record: dict[str, Any], prepared: Prepared, machine: dict[str, str | int], progress: Progress, force: bool
) -> None:
    """Refuse other data than the run began with, and say what else is not as it was."""
    if record["data"].get("hash") != prepared.facts["hash"]:
        if not force:
            raise RunError(
                "The training data is not what the run began with, so going on would not be the same run; start a "
                "new run, or go on regardless with --force."
            )
        progress.warn("The training data is not what the run began with; going on with it as it is now.")
    before = record["machine"]
    for name, value in machine.items():
        if before.get(name) != value:
            change = f"{name} was {before.get(name)} and is {value} now"
            progress.warn(f"{change}: the run goes on, but not to the bit as it would have.")


def _describe(machine: Machine, team: ProcessGroup) -> dict[str, str | int]:
    return machine.describe() | {"processes": team.size, "regard": __version__}


def _step_back(run: Run, folder: Path, damages: Sequence[Exception], step: int, progress: Progress) -> None:
    """Say which checkpoints are damaged, and let go of them."""
    for damage in damages:
        progress.warn(f"{damage} Going on from the checkpoint before it, step {step:,}.")
    if damages:
        run.checkpoints.forget_after(folder)


def _open(run: Run, job: RunSpec, prepared: Prepared, machine: dict[str, str | int], updates: int) -> None:
    """Note that training begins; an old run makes room only now."""
    facts = {
        "state": "running",
        **job.begins,
        "data": prepared.facts,
        "machine": machine,
        "updates": updates,
        "parameters": sum(parameter.numel() for parameter in prepared.bundle.model.parameters()),
    }
    if job.start == "replace":
        run.begin(facts, job.pairs)
    else:
        run.note(**facts)


def _close(
    run: Run, prepared: Prepared, state: LoopState, reason: Reason, progress: Progress, is_scored: bool
) -> None:
    run.note(
        steps=state.step, best_step=state.best_step, seconds=round(state.seconds, 1), waited=round(state.waited, 3)
    )
    if reason == "interrupted" or not is_scored:
        run.note(state=reason)
    else:
        pipeline = load(run.best, str(next(prepared.bundle.model.parameters()).device))
        run.note(state=reason, scores=task(run.record["task"]).score(run, pipeline, prepared, progress))
    if is_scored:
        leave_card(run, progress)
