"""`regard choose`: a context and choices in, the likeliest choice out."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.answers import check_inputs, split_lines, write_table
from regard.cli.options import Device, Json, Precision, Quiet, Run, TableOut, Threads
from regard.cli.tables import is_table


def choose(
    run: Run,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CONTEXT CHOICE CHOICE...]",
            help="A context and its choices; unset: standard input, one a line, with tabs between.",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", "-f", help="A .jsonl, .csv or .tsv (.gz too) with contexts and their choices, or lines."
        ),
    ] = None,
    out: TableOut = None,
    device: Device = None,
    precision: Precision = "fp32",
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Choose what follows a context: number (from 0), probability and text of the likeliest choice; CSV for tables.

    A line has a tab between the context and each of its choices; blank lines are kept.
    """
    from regard.cli.console import print_json, print_line, progress
    from regard.tasks.load import load_chooser
    from regard.training.device.machine import use_threads

    check_inputs(words, file, {"out": out})
    use_threads(threads)
    chooser = load_chooser(run, device or "auto", precision=precision)
    reporter = progress(quiet)
    if is_table(file):
        from regard.tasks.choose.table import choose_table

        write_table(choose_table(chooser, str(file), reporter), out, json)
        return

    def show(answer: Any) -> None:
        if json:
            shown = answer and vars(answer) | {"choice": answer.choice, "probability": answer.probability}
            print_json(shown, indent=None)
        else:
            line = answer and f"{answer.number}\t{answer.probability:.4f}\t{' '.join(answer.choice.split())}"
            print_line(line or "")

    what = "a context and two choices or more"
    for rows in [[tuple(words)]] if words else split_lines(file, what, range(3, 1000)):
        found = iter(chooser([(row[0], row[1:]) for row in rows if row], progress=reporter))
        for row in rows:
            show(next(found) if row else None)
