"""The output of a run when it ends, and of a plan."""

from json import dumps

from regard.cli.console import Shown, use_it
from regard.cli.options import Given
from regard.progress import duration
from regard.runs.planning.cluster_words import HEADER, strategy_rows
from regard.runs.planning.plan import Plan
from regard.runs.run import Run
from regard.tasks.contract import find_task

JSON_KEYS = ("state", "steps", "best_step", "seconds", "data_wait_seconds", "parameters", "data", "scores")


def print_run(run: Run, given: Given) -> None:
    """Print how a run ended."""
    record, task = run.record, find_task(run.record.task)
    values = record.model_dump(mode="json", exclude_unset=True) | {"data": record.report.model_dump(mode="json")}
    steps = f"{record.steps:,} step{'' if record.steps == 1 else 's'}"
    given.show(
        {"run": str(run.path)} | {key: values[key] for key in JSON_KEYS if key in values},
        f"{run.path}: {record.state} after {steps} and {duration(record.seconds)} of training, best at "
        f"step {record.best_step:,}; {record.parameters:,} parameters.",
        *(task.score_parts(record.scores) if record.scores else ()),
        use_it(task.usage_of(record)[0], run.path),
    )


def plan_parts(plan: Plan) -> list[Shown]:
    """Return what a run would do: its sizes, planned settings, and strategies for several devices."""
    rows = [(name, dumps(each.value, ensure_ascii=False), each.reason) for name, each in plan.planned.items()]
    parts: list[Shown] = [(("what", "value"), plan.rows())]
    parts += ["", (("planned setting", "value", "reason"), rows)] if rows else []
    if plan.cluster is not None:
        parts += ["", (HEADER, strategy_rows(plan.cluster), range(1, len(HEADER)))]
    return parts
