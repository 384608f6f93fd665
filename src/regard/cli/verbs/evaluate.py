"""`regard evaluate`: scores of a model on its own test sets or on other data."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from regard import registry
from regard.cli.options import JSON, QUIET, Flag, Given, Run, column, options
from regard.cli.run_options import COLUMNS, MACHINE, PROCESSES, RUN_FLAGS, label_columns
from regard.cli.task_options import Schemas, honored, shown, task_flags
from regard.errors import ConfigError
from regard.runs.scores.settings import ScoreSettings

if TYPE_CHECKING:
    from regard.config.settings import Settings
    from regard.tasks.contract import AnyTask

SCHEMAS: Schemas = {task: task.evaluation for task in registry.tasks() if task.evaluation.model_fields}
OWN_SOURCES: Schemas = {task: task.evaluated_on for task in registry.tasks() if task.evaluated_on is not None}
"""Settings of sets that a task has for evaluation alone."""
REPEATED = " Repeat for further references."


def _source_flags() -> list[Flag]:
    """Return the options that name a data set, as training data but with several references, and of processes."""
    several = {"target": tuple[str, ...], "target_column": tuple[str, ...]}
    sources = [each for setting, each in RUN_FLAGS.items() if setting.startswith("data.train.")]
    return [
        replace(each, type=several[each.name], doc=each.doc + REPEATED) if each.name in several else each
        for each in (*sources, *COLUMNS, PROCESSES[0])
    ]


@options(QUIET, JSON, *_source_flags(), *task_flags(OWN_SOURCES), *task_flags(SCHEMAS), ScoreSettings, *MACHINE)
def evaluate(given: Given, run: Run) -> None:
    """Score a model on its own test sets or on other data: BLEU, perplexity, F1."""
    from regard.runs.evaluate import evaluate
    from regard.runs.processes import divide_command
    from regard.runs.scores.model import task_of

    prints, task = divide_command(given["processes"]), task_of(run)
    chosen = honored(task, run, given, SCHEMAS) | given.values_of(ScoreSettings.model_fields)
    evaluated = evaluate(run, source_of(task, run, given), **chosen, device=given.device, progress=given.progress)
    values = {name: each.to_dict() for name, each in evaluated.items()}
    files = [str(file) for each in evaluated.values() for file in each.files]
    passports = [f"score passports: {', '.join(files)}"] if files else []
    compared = [part for each in evaluated.values() if each.comparison for part in each.comparison.parts()]
    given.show(values, *task.score_parts(values), *passports, *compared) if prints else None


def source_of(task: "AnyTask", run: str, given: Given) -> "Settings | None":
    """Return the data that flags name as a source of the task; None: the run's own test sets."""
    from regard.config.resolve import Layer, resolve

    values = _source_values(given)
    for name, (flag, value) in values.items():
        if name not in task.eval_source.model_fields:
            rest = f"whose data is given with {task.eval_flags}"
            if flag.endswith("-column"):
                rest = "whose data has no such column; leave it out"
            raise ConfigError(f"{flag}{shown(value)}: {run} is {task.wording.noun}, {rest}.")
    if not values:
        return None
    table = str(given["data"] or "")
    for flag, value in values.values():
        if flag.endswith("-column") and (not table or table.startswith("miniature:")):
            reason = f"{table} has none" if table else "there is no --data"
            raise ConfigError(
                f"{flag}{shown(value)}: this names a column of the table that {run}, {task.wording.noun}, is "
                f"scored on, and {reason}; leave it out."
            )
    layer = Layer("the command line", {name: value for name, (_, value) in values.items()})
    return resolve(task.eval_source, [layer]).settings


def _source_values(given: Given) -> dict[str, tuple[str, Any]]:
    """Return the fields of a source that flags set, each with its flag and value."""
    files, columns = given["target"] or [], [column(name) for name in given["target_column"] or []]
    values = {
        "path": ("--data", given["data"]),
        "source": ("--source", given["source"]),
        "target": ("--target", next(iter(files), None)),
        "references": ("--target", files[1:] or None),
        "source_column": ("--source-column", given["source_column"]),
        "target_column": ("--target-column", next(iter(columns), None)),
        "reference_columns": ("--target-column", columns[1:] or None),
        "paths": ("--text", given["text"] or None),
        **{flag.name: (f"--{flag.name}", given[flag.name] or None) for flag in task_flags(OWN_SOURCES)},
    }
    for name, value in label_columns(given).items():
        values[name] = ("--label-column" if name == "label_column" else "--text-column", value)
    return {name: each for name, each in values.items() if each[1] is not None}
