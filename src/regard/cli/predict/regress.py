"""`regard regress`: texts or pairs in, a number for each out; a table in, the table with numbers out."""

from typing import Annotated, Any

import typer

from regard.cli.answers import answer_lines, check_inputs, write_table
from regard.cli.options import Device, Json, Precision, Quiet, Run, TableOut, TextColumns, TextFile, Threads, column
from regard.cli.tables import is_table


def regress(
    run: Run,
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT]...", help="Text (two by two for pairs); unset: standard input, one a line."),
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
    """Give texts, or pairs of texts, a number: one a line, in order, blank lines kept; CSV for tables."""
    from regard.cli.console import print_json, print_line, progress
    from regard.tasks.load import load_regressor
    from regard.training.device.machine import use_threads

    check_inputs(texts, file, {"text_column": text_column, "out": out})
    use_threads(threads)
    regressor = load_regressor(run, device or "auto", precision=precision)
    reporter = progress(quiet)
    if is_table(file):
        from regard.tasks.regress.table import rate_table

        columns = [column(word) for word in text_column or []]
        write_table(rate_table(regressor, str(file), columns, reporter), out, json)
        return

    def show(answer: Any) -> None:
        if json:
            print_json(None if answer is None else vars(answer), indent=None)
        else:
            print_line("" if answer is None else f"{answer.number:.4f}")

    answer_lines(regressor, texts, file, show, reporter)
