"""The results of a race: every member's metrics, and the conditions, in one value."""

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.checkpoint.verification import STATE
from regard.config.records import read_record
from regard.errors import RunError
from regard.runs.run import Run
from regard.studies.race.any_task import discipline
from regard.studies.race.disciplines import column_records
from regard.studies.race.folder import Race
from regard.studies.race.records import PlannedRecord
from regard.tasks.contract import find_task
from regard.training.reports.metrics_log import METRICS, read_metrics
from regard.training.saved import StateRecord
from regard.version import __version__

FORMAT = 2


def collect(
    race: Race, failed: dict[str, str], measured: dict[str, dict[str, Any]], order: Sequence[str]
) -> dict[str, Any]:
    """Return the results of a race as plain values; durations and speeds are under `times`."""
    record = race.record
    ended = [name for name in order if name in measured]
    first = race.run(ended[0]).record
    task, settings = find_task(first.task), first.settings.plain
    members = [_member(race.run(name), record.plan[name], measured[name]) for name in ended]
    return {
        "format": FORMAT,
        "name": race.path.name,
        "task": first.task,
        "columns": [
            each for each in column_records(task) if any(one.get(each["key"]) is not None for one in members)
        ],
        "is_finished": race.is_finished,
        "recipe": record.asked.recipe,
        "budget": record.asked.budget,
        "vary": record.asked.vary,
        "seed": settings["seed"],
        "set": next(iter(first.scores)),
        "data": first.report.model_dump(mode="json"),
        "tokenizer": settings["text"],
        "tokens_per_update": settings["train"]["tokens_per_update"],
        "examples_per_update": settings["train"].get("examples_per_update"),
        "machine": first.machine.plain if first.machine else {},
        "regard": __version__,
        "members": members,
        "waiting": [name for name in order if name not in measured and name not in failed],
        "failed": failed,
    } | discipline(task).facts(first, measured[ended[0]])


def _member(run: Run, planned: PlannedRecord, measured: dict[str, Any]) -> dict[str, Any]:
    record, metrics = run.record, read_metrics(run.path / METRICS)
    values = discipline(find_task(record.task)).member(record, metrics, measured)
    speeds = [line["tokens_per_second"] for line in metrics if "tokens_per_second" in line]
    times = {
        "seconds": record.seconds,
        "planned_seconds_per_step": planned.seconds_per_step,
        "tokens_per_second": statistics.median(speeds) if speeds else _mean_speed(run),
    }
    return {
        "name": run.path.name,
        "run": str(Path("runs") / run.path.name),
        "preset": record.settings.model.preset,
        "parameters": record.parameters,
        "state": record.state,
        "steps": record.steps or 0,
        "best_step": record.best_step,
        **values,
        "intervals": next(iter(record.scores.values()))["intervals"],
        "times": times | values.get("times", {}),
    }


def _mean_speed(run: Run) -> float:
    """Return the training tokens per second of a run that is too short for a log line."""
    loop = read_record(run.latest / STATE, StateRecord, RunError, "the state of a training loop").loop
    return loop.tokens_seen / max(loop.seconds, 0.1)
