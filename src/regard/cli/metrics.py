"""The output of a run when it ends, of evaluations, comparisons and plans."""

from collections.abc import Mapping
from json import dumps

from regard.cli.console import print_json, print_line, print_table
from regard.metrics.comparison import Comparison
from regard.progress import duration
from regard.runs.planning.cluster_words import HEADER, strategy_rows
from regard.runs.planning.plan import Plan
from regard.runs.run import Run
from regard.tasks.contract import AnyTask, find_task
from regard.tasks.evaluation import Values, score_table

JSON_KEYS = ("state", "steps", "best_step", "seconds", "data_wait_seconds", "parameters", "data", "scores")


def print_run(run: Run, as_json: bool) -> None:
    """Print how a run ended."""
    record = run.record
    if as_json:
        values = record.model_dump(mode="json", exclude_unset=True) | {"data": record.report.model_dump(mode="json")}
        print_json({"run": str(run.path)} | {key: values[key] for key in JSON_KEYS if key in values})
    else:
        task = find_task(record.task)
        steps = f"{record.steps:,} step{'' if record.steps == 1 else 's'}"
        print_line(
            f"{run.path}: {record.state} after {steps} and {duration(record.seconds)} of training, best at "
            f"step {record.best_step:,}; {record.parameters:,} parameters."
        )
        if record.scores:
            print_scores(task, record.scores)
        operation = task.usage_of(record)[0]
        print_line(f"Use it: regard {operation.name} {run.path} {operation.usage}")


def print_scores(task: AnyTask, sets: Mapping[str, Values]) -> None:
    """Print one row a set, and under the table how the scores were computed."""
    scores = score_table(task.counted, task.metrics, sets)
    print_table(scores.header, scores.rows, right=range(1, len(scores.header)))
    for line in task.score_lines(sets):
        print_line(line)
    if any(values.get("intervals") for values in sets.values()):
        print_line("In brackets: 95 % intervals by bootstrap over the set.")
    for name, values in sets.items():
        for table in task.score_tables(name, values):
            print_line(f"\n{table.title}:")
            print_table(table.header, table.rows, right=range(1, len(table.header)))


def print_comparison(comparison: Comparison) -> None:
    """Print two systems side by side, and under the table the verdict."""
    print_line()
    print_line(f"{comparison.set}: {comparison.first} against {comparison.second}")
    header, rows = comparison.table()
    print_table(header, rows, right=range(1, 5))
    for sentence in comparison.words():
        print_line(sentence)
    print_line(f"Paired bootstrap, two-sided, {comparison.resamples:,} resamples, seed {comparison.seed}.")


def print_plan(plan: Plan, as_json: bool) -> None:
    """Print what a run would do."""
    if as_json:
        print_json(plan.to_dict())
        return
    print_table(("what", "value"), plan.rows())
    if plan.planned:
        print_line()
        rows = [(name, dumps(each.value, ensure_ascii=False), each.reason) for name, each in plan.planned.items()]
        print_table(("planned setting", "value", "reason"), rows)
    if plan.cluster is not None:
        print_line()
        print_table(HEADER, strategy_rows(plan.cluster), range(1, len(HEADER)))
