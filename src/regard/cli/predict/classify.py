"""`regard classify`: text classification."""

from typing import Annotated, Any

import typer

from regard.cli.answers import answer_lines, check_inputs, write_table
from regard.cli.options import Device, Json, Precision, Quiet, Run, TableOut, TextColumns, TextFile, Threads, column
from regard.cli.tables import is_table


def classify(
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
    """Classify texts: label and probability per line, in order, blank lines kept; CSV for tables.

    A text pair is a tab-separated line, or two columns of a table.
    """
    from regard.cli.console import print_json, print_line, progress
    from regard.tasks.classify.task import TASK
    from regard.tasks.load import load
    from regard.training.device.machine import use_threads

    check_inputs(texts, file, {"text_column": text_column, "out": out})
    use_threads(threads)
    classifier = load(run, device or "auto", precision=precision, task=TASK.name)
    reporter = progress(quiet)
    if is_table(file):
        columns = dict(zip(classifier.inputs, map(column, text_column or [])))
        write_table(classifier.table(str(file), columns=columns, progress=reporter), out, json)
        return

    def show(result: Any) -> None:
        if json:
            print_json(result and result.to_dict(), indent=None)
        else:
            print_line("" if result is None else f"{result.label}\t{result.probability:.4f}")

    answer_lines(classifier, texts, file, show, reporter)
