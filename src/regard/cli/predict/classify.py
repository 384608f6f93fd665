"""`regard classify`: texts in, labels out; a table in, the table with labels out."""

from typing import Annotated, Any

import typer

from regard.cli.answers import answer_lines, check_inputs, write_table
from regard.cli.options import Device, Json, Precision, Quiet, Run, TableOut, TextColumns, TextFile, Threads, column
from regard.cli.tables import is_table


def classify(
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
    """Label texts: a label and its probability for each line, in order, blank lines kept; CSV for tables.

    Pairs have a tab between their texts, or are two columns of a table.
    """
    from regard.cli.console import print_json, print_line, progress
    from regard.tasks.load import load_classifier
    from regard.training.device.machine import use_threads

    check_inputs(texts, file, {"text_column": text_column, "out": out})
    use_threads(threads)
    classifier = load_classifier(run, device or "auto", precision=precision)
    reporter = progress(quiet)
    if is_table(file):
        from regard.tasks.classify.table import label_table

        columns = [column(word) for word in text_column or []]
        write_table(label_table(classifier, str(file), columns, reporter), out, json)
        return

    def show(answer: Any) -> None:
        if json:
            print_json(None if answer is None else vars(answer) | {"probability": answer.probability}, indent=None)
        else:
            print_line("" if answer is None else f"{answer.label}\t{answer.probability:.4f}")

    answer_lines(classifier, texts, file, show, reporter)
