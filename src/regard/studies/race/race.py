"""Races: several models trained on the same data for the same budget, one after the other, then compared."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from regard.checkpoint.atomic import write_json
from regard.checkpoint.identity import model_hash
from regard.config.records import read_record
from regard.errors import ConfigError, RegardError, RunError, RunInterrupted
from regard.progress import Progress
from regard.reporting.bars import as_progress
from regard.runs.execute import RunSpec, execute
from regard.runs.planning.recipes import find_recipe
from regard.runs.resume import resume
from regard.runs.run import Run
from regard.studies.folder import RESULTS, STOPPED
from regard.studies.race.any_task import discipline
from regard.studies.race.budget import Budget, parse_budget
from regard.studies.race.disciplines import SharedData
from regard.studies.race.entrants import Lineup, Member, enter
from regard.studies.race.folder import Race, check_writable, claim_race
from regard.studies.race.leaderboard import Leaderboard, NamedProgress, Show, Standing
from regard.studies.race.plan import GIVEN, changed, plan_member, within
from regard.studies.race.records import AskedRecord, PlannedRecord
from regard.studies.race.report import write_report
from regard.studies.race.results import collect
from regard.tasks.contract import find_task
from regard.tasks.declarations import Metric
from regard.tasks.record import RunRecord
from regard.training.reports.metrics_log import METRICS, read_metrics


def race(
    lineup: Lineup,
    budget: str | None = None,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress | bool | None = None,
    show: Show = lambda standings: None,
) -> Race:
    """Train several models on the same data for the same budget, and write a report.

    A signal stops it, saved, with KeyboardInterrupt or RunInterrupted; the same call resumes it.
    Default budget: the recipe's `train.minutes`, `train.epochs` or `train.steps`. `show` gets the standings.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise ConfigError("A race compares models on one device; start it without torchrun.")
    progress = as_progress(progress)
    members = enter(lineup, progress)
    chosen = _budget(budget, members[0])
    asked = AskedRecord(
        recipe=lineup.recipe,
        budget=str(chosen),
        vary=lineup.vary,
        members={member.name: member.settings.model_dump(mode="json") for member in members},
    )
    path = Path(out) if out is not None else Path("races") / find_recipe(lineup.recipe).name
    folder = claim_race(path, asked, overwrite)
    check_writable(path)
    task = find_task(members[0].settings.task)
    limit = task.shared_limit([member.settings for member in members])
    shared = SharedData(changed(members[0].resolved, limit, "the race").settings, progress)
    if not folder.exists:
        plan = {member.name: _plan(member, chosen, shared, limit, progress) for member in members}
        folder.begin(asked, plan)
    with Run(path).in_hand():
        board = Leaderboard(_standings(folder, members), show, progress)
        _Session(folder, members, shared, board, limit).run()
    return folder


def _budget(budget: str | None, member: Member) -> Budget:
    """Return the budget of a race; without one, that of the recipe."""
    train = member.settings.train
    is_given = member.resolved.source("train.steps") == GIVEN
    if budget is not None:
        if is_given:
            raise ConfigError(
                f"train.steps: the budget is already {budget}; leave one of them out, or give "
                f'--budget "{train.steps} steps".'
            )
        return parse_budget(budget)
    if train.is_open:
        return Budget("seconds", 60 * train.minutes)
    if train.ends_itself and not is_given:
        raise ConfigError(
            "--budget: validation ends such a run, but a race gives each model the same budget; name one (10m)."
        )
    return Budget("steps", train.steps) if is_given or train.epochs is None else Budget("epochs", train.epochs)


def _plan(
    member: Member, budget: Budget, shared: SharedData, limit: dict[str, int], progress: Progress
) -> PlannedRecord:
    settings = changed(member.resolved, limit, "the race").settings
    planned = plan_member(settings, budget, shared, NamedProgress(progress, f"trial of {member.name}"))
    within(member.resolved, planned.steps)  # refuses a schedule that does not fit, before any training
    trial = f", {1 / planned.seconds_per_step:.2f} steps per second in a trial" if planned.seconds_per_step else ""
    progress.info(f"{member.name}: {planned.parameters:,} parameters, {planned.steps:,} steps{trial}.")
    return planned


def _standings(race: Race, members: Sequence[Member]) -> dict[str, Standing]:
    plan = race.record.plan
    return {
        member.name: Standing(
            member.name,
            steps=plan[member.name].steps,
            parameters=plan[member.name].parameters,
            score_name=_validated(member).label,
            score_format=_validated(member).format,
        )
        for member in members
    }


def _validated(member: Member) -> Metric:
    """Return the validation metric of the standings."""
    metrics = find_task(member.settings.task).metrics_of(member.settings)
    return next((metric for metric in metrics if metric.is_validated), Metric("loss", "loss", best="min"))


class _Session:
    """Trains, scores and measures one member after the other."""

    def __init__(
        self, race: Race, members: Sequence[Member], shared: SharedData, board: Leaderboard, limit: dict[str, int]
    ) -> None:
        self.race, self.members, self.shared, self.board, self.limit = race, members, shared, board, limit
        self.discipline = discipline(find_task(members[0].settings.task))
        self.failed: dict[str, str] = {}
        self.measured: dict[str, dict[str, Any]] = {}

    def run(self) -> None:
        """Run until all members have finished or a signal stops one, and write the report."""
        stop: BaseException | None = None
        for member in self.members:
            try:
                self._train(member)
                self._measure(member)
            except (KeyboardInterrupt, RunInterrupted) as interrupt:
                stop = type(interrupt)(STOPPED)
                break
            except RegardError as error:
                self._note_failure(member, str(error))
                self.board.update(member.name, state="failed")
                self.board.progress.warn(f"{member.name}: {error} The race continues without it.")
        if len(self.failed) == len(self.members):
            raise RunError(
                f"{self.race.path}: all members failed; the first one with: {next(iter(self.failed.values()))}"
            )
        if self.measured:
            results = collect(self.race, self.failed, self.measured, [member.name for member in self.members])
            write_json(self.race.path / RESULTS, results)
            write_report(results, self.race.path)
        if stop:
            raise stop

    def _note_failure(self, member: Member, reason: str) -> None:
        self.failed[member.name] = reason
        run = self.race.run(member.name)
        if run.state == "interrupted":  # it could not be resumed
            run.note(state="failed")

    def _train(self, member: Member) -> None:
        """Train a member, or resume it, unless it has finished."""
        run, name = self.race.run(member.name), member.name
        if not self.race.has_ended(name):
            progress = self.board.watching(name, news_of(run, f"valid_{_validated(member).key}"))
            if run.exists:
                resume(run.path, progress=progress, data=self.shared.data)
            else:
                planned = self.race.record.plan[name]
                resolved = within(member.resolved, planned.steps, self.limit)
                execute(run, RunSpec(resolved, data=self.shared.data), progress)
        record = run.record
        self._check_same_data(record, run)
        score: Any = next(iter(record.scores.values()))
        value = score.get(_validated(member).key)
        facts = {"step": record.steps, "loss": score["loss"], "score": value}
        self.board.update(name, state="measuring", seconds=record.seconds, **facts)

    def _check_same_data(self, record: RunRecord, run: Run) -> None:
        """Refuse to compare members that were not trained on the same token ids."""
        runs = (self.race.run(member.name) for member in self.members)
        first = next(each for each in runs if each.exists and each.record.data is not None)  # one may have failed
        if first.record.report.hash != record.report.hash:
            raise RunError(
                f"{run.path}: it was not trained on the same data as {first.path.name}, so they cannot be compared; "
                f"restart the race with --overwrite."
            )

    def _measure(self, member: Member) -> None:
        """Measure a finished member, unless there are measurements of this checkpoint."""
        path, run = self.race.measures(member.name), self.race.run(member.name)
        measurements = self._read(path)
        checkpoint = model_hash(run.best)
        if measurements.get("checkpoint") != checkpoint:  # none yet, or of an earlier run
            values = self.discipline.measure(run, self.shared.held_out, member.settings.machine.device)
            path.parent.mkdir(exist_ok=True)
            write_json(path, {"checkpoint": checkpoint} | values)
            measurements = self._read(path)
        self.measured[member.name] = measurements
        self.board.update(member.name, state="finished")

    def _read(self, path: Path) -> dict[str, Any]:
        """Return the measurements of a file; empty where it is missing or damaged."""
        schema = self.discipline.schema
        try:
            return read_record(path, schema, RunError, "the measurements of a member").model_dump()
        except (FileNotFoundError, RunError):
            return {}


def news_of(run: Run, metric: str) -> Callable[[], dict[str, float]]:
    """Return a function that reads a run's latest metrics, whenever metrics.jsonl has grown."""
    size, latest = -1, dict[str, float]()

    def news() -> dict[str, float]:
        nonlocal size, latest
        path = run.path / METRICS
        now = path.stat().st_size if path.is_file() else 0
        if now != size:
            size = now
            for line in read_metrics(run.path / METRICS):
                keys = (("score", metric), ("seconds", "seconds"))
                latest |= {name: line[key] for name, key in keys if key in line}
        return latest

    return news
