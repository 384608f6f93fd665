"""`regard regress`: text regression."""

from typing import Annotated, Any

import typer

from regard.cli.answers import answer_lines, check_inputs, write_table
from regard.cli.options import Device, Json, Precision, Quiet, Run, TableOut, TextColumns, TextFile, Threads, column
from regard.cli.tables import is_table


def regress(
    run: Run,
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TEXT]...", help="Texts, or two per text pair (default: standard input, one per line)."
        ),
    ] = None,
    file: TextFile = None,
    text_column: TextColumns = None,
    out: TableOut = None,
    device: Device = None,
    precision: Precision = "fp32",
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Predict a number for each text or text pair: one per line, in order, blank lines kept; CSV for tables."""
    from regard.cli.console import print_json, print_line, progress
    from regard.tasks.load import load
    from regard.tasks.regress.task import TASK
    from regard.training.device.machine import use_threads

    check_inputs(texts, file, {"text_column": text_column, "out": out})
    use_threads(threads)
    regressor = load(run, device or "auto", precision=precision, task=TASK.name)
    reporter = progress(quiet)
    if is_table(file):
        columns = dict(zip(regressor.inputs, map(column, text_column or [])))
        write_table(regressor.table(str(file), columns=columns, progress=reporter), out, json)
        return

    def show(result: Any) -> None:
        if json:
            print_json(result and result.to_dict(), indent=None)
        else:
            print_line("" if result is None else f"{result.number:.4f}")

    answer_lines(regressor, texts, file, show, reporter)
