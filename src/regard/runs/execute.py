"""Execution of a run: prepare its data, train, keep its record, and score the result."""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from torch import nn

from regard.checkpoint.bundle import read_bundle, read_training
from regard.config.resolve import Resolved
from regard.config.settings import flatten
from regard.errors import RegardError, RunError, RunInterrupted
from regard.models.base.settings import ModelSettings
from regard.progress import SILENT, Progress
from regard.registry import packages_of
from regard.runs.final_scores import final_scores
from regard.runs.preflight import prepare_run, untrained
from regard.runs.processes import (
    check_alike,
    check_launch,
    check_processes,
    describe_processes,
    newest_checkpoint,
)
from regard.runs.reports.card import leave_card
from regard.runs.run import Run
from regard.runs.saving import Saver
from regard.runs.store.folder import abandon, clear_leftovers, missing_folders
from regard.runs.store.process import this_process
from regard.tasks.contract import AnyTask, find_task
from regard.tasks.data import Prepared
from regard.tasks.init_from import run_context
from regard.tasks.record import MachineRecord, RunRecord
from regard.tasks.settings import RunSettings
from regard.training.device.machine import Machine, prepare_machine
from regard.training.ending import RunClock
from regard.training.hooks import Hooks
from regard.training.loop import Reason, Trainer
from regard.training.parallel.process_group import ProcessGroup, init_process_group
from regard.training.reports.loggers import check_loggers, open_loggers
from regard.training.reports.metrics_log import MetricsLog
from regard.training.settings import LoopSettings, TrainSettings
from regard.version import __version__

Start = Literal["new", "replace", "again", "resume"]
"""new: in an unused folder; replace: instead of an old run, which stays until the data is ready; again: the same run
from step 0; resume: from its latest checkpoint."""


@dataclass(frozen=True)
class RunSpec:
    """The settings of a run, and how it starts in its folder."""

    resolved: Resolved[RunSettings[ModelSettings]]
    start: Start = "new"
    is_forced: bool = False
    """A resumed run may continue with other data."""
    is_scored: bool = True
    """The result is scored on the test sets and has a card."""
    stop_at: int | None = None
    """A step to stop at as if interrupted."""
    began: float | None = None
    """The time.monotonic() from which a time limit counts (default: when the run is executed)."""
    data: object = None
    """Data that is loaded and checked already, for runs that share it."""

    @property
    def begins(self) -> dict[str, Any]:
        """The record of a run before its data is read."""
        settings = self.resolved.settings
        packages = packages_of(settings.task, settings.model.family)
        return {
            "process": this_process(),
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "regard": __version__,
            "task": settings.task,
            "settings": settings.model_dump(mode="json"),
            **({"packages": packages} if packages else {}),
            "sources": self.resolved.sources,
        }


def execute(run: Run, job: RunSpec, progress: Progress = SILENT) -> Run:
    """Prepare, train, and score on the test sets; raise after saving when a signal stops it."""
    settings, clock = job.resolved.settings, RunClock.since(job.began)
    task = find_task(settings.task)
    check_loggers(settings.train.loggers)
    check_processes(settings.machine)
    machine = prepare_machine(settings.machine)
    waiting = settings.machine.process_timeout
    with init_process_group(machine.device, waiting) as team, _folder(run, job) if team.is_main else nullcontext():
        progress = progress if team.is_main else SILENT
        check_launch(run, settings, team)
        checkpoint = newest_checkpoint(run, team) if job.start == "resume" else None
        resumed = read_bundle(checkpoint[0], machine.device) if checkpoint else None
        prepared = prepare_run(settings, run_context(settings, machine, progress, resumed), job.data)
        if settings.languages and resumed is None:
            prepared.bundle.facts.update(languages=list(settings.languages))
        check_alike(prepared.report.hash, team)
        counted = settings.train
        if counted.depends_on_data:
            counted = counted.planned(prepared.feed.updates_in(epoch=0))
        trainer = task.trainer(
            settings,
            prepared,
            counted,
            machine,
            _hooks(run, prepared, counted, team, progress, lambda: untrained(settings, prepared, machine)),
            seed=settings.seed,
            width=prepared.width,
            team=team,
            clock=clock,
        )
        described = _describe(machine, team)
        describe_processes(trainer, team, progress)
        if checkpoint:
            record = run.record
            _compare(record, prepared, described, progress, job.is_forced)
            trainer.restore(read_training(checkpoint[0]))
            if isinstance(settings.train, TrainSettings):
                before = record.settings.train.get("micro_batch_tokens")
                if before != settings.train.micro_batch_tokens:
                    trainer.state.micro_batch_limit = None  # the user's limit replaces the one that was determined
        team.wait()  # every process has read what the main process may now change
        if team.is_main:
            if checkpoint:
                _step_back(run, *checkpoint, trainer.state.step, progress)
            _open(run, job, prepared, described, counted.steps)
        reason = _train(run, trainer, job.stop_at)
        _close(run, task, prepared, trainer, reason, progress, job.is_scored)
        team.wait()
    if trainer.received:
        sentences = (
            f"Stopped at step {trainer.state.step:,}; everything is saved.",
            f"Resume: regard train --resume {run.path}",
        )
        raise (
            KeyboardInterrupt("\n".join(sentences))
            if signal.SIGINT in trainer.received
            else RunInterrupted(*sentences)
        )
    return run


@contextmanager
def _folder(run: Run, job: RunSpec) -> Iterator[None]:
    """Lock the run's folder; a new one is recorded at once, and gone if it never begins to train."""
    made = missing_folders(run.path)
    run.path.mkdir(parents=True, exist_ok=True)
    with run.in_hand():
        clear_leftovers(run)
        if job.start != "new":
            yield
            return
        run.check_free()  # no other process was faster
        try:
            run.begin({"state": "preparing"} | job.begins)  # from here on a kill can be resumed
            yield
        except BaseException:
            abandon(run, made)
            raise


def _train(run: Run, trainer: Trainer, stop_at: int | None) -> Reason:
    is_main = trainer.team.is_main
    step, settings = trainer.state.step, dict(flatten(run.record.settings.plain)) if is_main else {}
    loggers = open_loggers(trainer.settings.loggers if is_main else (), run.path, step, settings)
    with MetricsLog(run.path, step, loggers, is_silent=not is_main) as log:
        trainer.hooks = replace(trainer.hooks, record=log.write, forget=log.forget)
        try:
            return trainer.run(stop_at)
        except RegardError:
            if is_main:
                with suppress(OSError):  # a full disk may be the very reason
                    run.note(state="failed")
            with suppress(RegardError):  # this error is the one to report
                trainer.hooks.writer.wait()
            raise


def _hooks(
    run: Run,
    prepared: Prepared[Any],
    settings: LoopSettings,
    team: ProcessGroup,
    progress: Progress,
    untrained: Callable[[], nn.Module],
) -> Hooks:
    saver = Saver(run, prepared.bundle, settings, team)
    return Hooks(
        prepared.validate,
        saver.save,
        writer=saver.writer,
        drop_older=saver.drop_older,
        untrained=untrained,
        baseline=prepared.baseline,
        scorings=prepared.scorings,
        progress=progress,
    )


def _compare(
    record: RunRecord, prepared: Prepared[Any], machine: dict[str, str | int], progress: Progress, force: bool
) -> None:
    """Refuse other data than the run began with, and report what else is not as it was."""
    if record.report.hash != prepared.report.hash:
        if not force:
            raise RunError(
                "The training data is not what the run began with, so resuming would not continue the same run; "
                "start a new run, or resume regardless with --force."
            )
        progress.warn("The training data is not what the run began with; continuing with it as it is now.")
    before = (record.machine or MachineRecord(device="", threads=0)).plain
    for name, value in machine.items():
        if before.get(name) != value:
            change = f"{name} was {before.get(name)} and is {value} now"
            progress.warn(f"{change}: the run continues, but not to the bit as it would have.")


def _describe(machine: Machine, team: ProcessGroup) -> dict[str, str | int]:
    return machine.describe() | {"processes": team.size, "regard": __version__}


def _step_back(run: Run, folder: Path, damages: Sequence[Exception], step: int, progress: Progress) -> None:
    """Report which checkpoints are damaged, and drop them."""
    for damage in damages:
        progress.warn(f"{damage} Resuming from the checkpoint before it, step {step:,}.")
    if damages:
        run.checkpoints.drop_after(folder)


def _open(run: Run, job: RunSpec, prepared: Prepared[Any], machine: dict[str, str | int], updates: int) -> None:
    """Note that training begins; an old run makes room only now."""
    facts = {
        "state": "running",
        **job.begins,
        "data": prepared.report.model_dump(mode="json", exclude_unset=True),
        "machine": machine,
        "updates": updates,
        "parameters": sum(parameter.numel() for parameter in prepared.bundle.model.parameters()),
    }
    if job.start == "replace":
        run.begin(facts)
    else:
        run.note(**facts)


def _close(
    run: Run,
    task: AnyTask,
    prepared: Prepared[Any],
    trainer: Trainer,
    reason: Reason,
    progress: Progress,
    is_scored: bool,
) -> None:
    """Note how training ended, score the best checkpoint by all processes, and leave the card."""
    state, noted = trainer.state, dict[str, object]()
    if trainer.team.is_main:
        run.note(
            steps=state.step,
            best_step=state.best_step,
            seconds=round(state.seconds, 1),
            data_wait_seconds=round(state.waited, 3),
        )
    if reason != "interrupted" and is_scored:
        noted["scores"] = final_scores(run, task, prepared, trainer, progress)
    if not trainer.team.is_main:
        return
    run.note(state=reason, **noted)
    if is_scored:
        leave_card(run, progress)
