"""Races of any task: its metrics in the table and the validation loss over time; and the choice of the discipline."""

from collections.abc import Mapping, Sequence
from typing import Any

from regard.models.base.family import Kind
from regard.runs.run import Run
from regard.studies.race.charts import Chart
from regard.studies.race.disciplines import Discipline, Results, race_metrics
from regard.studies.race.elements import figure, section
from regard.studies.race.records import MeasuredRecord
from regard.studies.race.text_report import TEXT, loss_curve, loss_plot
from regard.studies.race.translating import TRANSLATION
from regard.tasks.contract import AnyTask, find_task
from regard.tasks.data import EvalSet
from regard.tasks.record import RunRecord


def measure(run: Run, held_out: EvalSet, device: str) -> dict[str, Any]:
    """Return no measurements: members are compared by their scores only."""
    return {"reach": {}}


def facts(record: RunRecord, measured: dict[str, Any]) -> dict[str, Any]:
    """Return the number of examples that members are scored on."""
    score: Any = next(iter(record.scores.values()))
    key, label = find_task(record.task).counted
    return {"counted": f"{score[key]:,} {label}"}


def member(record: RunRecord, metrics: Sequence[dict[str, Any]], measured: dict[str, Any]) -> dict[str, Any]:
    """Return a member's metrics and its validation loss over time."""
    score: Any = next(iter(record.scores.values()))
    values = {each.key: score.get(each.key) for each in race_metrics(find_task(record.task))}
    return values | {"loss": score.get("loss"), "curve": loss_curve(metrics)}


def plots(results: Results) -> list[Chart]:
    """Return the plot of the validation loss over time."""
    return [loss_plot(results["members"])]


def sections(results: Results, drawn: Mapping[str, Chart], captions: Mapping[str, str]) -> list[str]:
    """Return the sections below the table."""
    return [section("Loss over training time", [figure(drawn.get("loss-time"), captions["loss-time"])])]


def subtitle(results: Results) -> tuple[str, str]:
    """Return the training data of all members, and the number of examples they are scored on."""
    train = results["data"]["train"]
    if "kept" in train:
        return f"{train['kept']:,} {find_task(results['task']).wording.examples}", results["counted"]
    return f"{train['documents']:,} documents of {train['tokens']:,} tokens", results["counted"]


def note(results: Results) -> str:
    """Return how the metrics in the table were computed."""
    return f"Metrics on {results['set']}; tokens/s: training throughput."


ANY_TASK = Discipline(MeasuredRecord, measure, facts, member, plots, sections, subtitle, note)

BY_KIND: dict[Kind, Discipline] = {"seq2seq": TRANSLATION, "causal-lm": TEXT}
"""Disciplines with measurements of their own, by the default kind of model."""


def discipline(task: AnyTask) -> Discipline:
    """Return the discipline of the races of a task."""
    return ANY_TASK if task.files.heads else BY_KIND.get(task.files.kinds[0], ANY_TASK)
