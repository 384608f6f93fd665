"""`regard choose`: multiple choice."""

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
            help="Context and choices (default: standard input, tab-separated, one context per line).",
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "--file", "-f", help="Input file: a .jsonl, .csv or .tsv table (.gz too), or tab-separated lines."
        ),
    ] = None,
    out: TableOut = None,
    device: Device = None,
    precision: Precision = "fp32",
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Choose a continuation of a context: index from 0, probability and text of the best choice; CSV for tables.

    An input line is the context and its choices, separated by tabs; blank lines are kept.
    """
    from regard.cli.console import print_json, print_line, progress
    from regard.tasks.choose.task import TASK
    from regard.tasks.load import load
    from regard.training.device.machine import use_threads

    check_inputs(words, file, {"out": out})
    use_threads(threads)
    chooser = load(run, device or "auto", precision=precision, task=TASK.name)
    reporter = progress(quiet)
    if is_table(file):
        write_table(chooser.table(str(file), progress=reporter), out, json)
        return

    def show(result: Any) -> None:
        if json:
            print_json(result and result.to_dict(), indent=None)
        else:
            line = result and f"{result.number}\t{result.probability:.4f}\t{' '.join(result.choice.split())}"
            print_line(line or "")

    what = "a context and at least two choices"
    for rows in [[tuple(words)]] if words else split_lines(file, what, range(3, 1000)):
        results = iter(chooser([(row[0], row[1:]) for row in rows if row], progress=reporter))
        for row in rows:
            show(next(results) if row else None)
