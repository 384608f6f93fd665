"""Verbs made of the operations of tasks on texts: those of built-in tasks, and of installed ones."""

from collections.abc import Callable
from typing import Annotated

import typer

from regard.cli.answers import answer_lines, check_inputs, write_table
from regard.cli.options import (
    NOTHING,
    Given,
    Json,
    Precision,
    Quiet,
    Run,
    TableOut,
    TextColumns,
    TextFile,
    column,
    flags_of,
    options,
)
from regard.cli.run_options import MACHINE
from regard.cli.tables import is_table
from regard.pipelines.base import Result
from regard.tasks.classify.task import TASK as CLASSIFY
from regard.tasks.contract import AnyTask
from regard.tasks.declarations import Operation
from regard.tasks.regress.task import TASK as REGRESS

Verb = Callable[..., None]
Texts = Annotated[
    list[str] | None,
    typer.Argument(metavar="[TEXT]...", help="Texts, or two per text pair (default: standard input, one per line)."),
]


def text_verb(task: AnyTask, operation: Operation, summary: str = "") -> Verb:
    """Return the verb of an operation: a result per line or table row, an option per field of its options."""

    @options(*flags_of(operation.options, shows_defaults=True), *MACHINE)
    def verb(
        run: Run,
        texts: Texts = None,
        file: TextFile = None,
        text_column: TextColumns = None,
        out: TableOut = None,
        precision: Precision = "fp32",
        quiet: Quiet = False,
        json: Json = False,
        given: Given = NOTHING,
    ) -> None:
        from regard.cli.console import print_json, print_line, progress
        from regard.tasks.load import load
        from regard.training.device.machine import use_threads

        check_inputs(texts, file, {"text_column": text_column, "out": out})
        use_threads(given["threads"])
        pipeline = load(run, given["device"] or "auto", precision=precision, task=task.name)
        chosen, reporter = given.values_of(operation.options.model_fields), progress(quiet)
        if is_table(file):
            columns = dict(zip(pipeline.inputs, map(column, text_column or [])))
            write_table(pipeline.table(str(file), columns=columns, progress=reporter, **chosen), out, json)
            return

        def show(result: Result | None) -> None:
            if json:
                print_json(result and result.to_dict(), indent=None)
            else:
                print_line("" if result is None else _line(result))

        answer_lines(pipeline, texts, file, show, reporter, **chosen)

    verb.__doc__ = summary or operation.summary
    return verb


def _line(result: Result) -> str:
    """Return a result as a line of text, with its probability where it has one."""
    probability = getattr(result, "probability", None)
    return result.text if probability is None else f"{result.text}\t{probability:.4f}"


classify = text_verb(
    CLASSIFY,
    CLASSIFY.operations[0],
    """Classify texts: label and probability per line, in order, blank lines kept; CSV for tables.

    A text pair is a tab-separated line, or two columns of a table.
    """,
)
regress = text_verb(
    REGRESS,
    REGRESS.operations[0],
    "Predict a number for each text or text pair: one per line, in order, blank lines kept; CSV for tables.",
)
