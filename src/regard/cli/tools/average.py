"""`regard average`: the mean of several checkpoints."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from regard.cli.options import Json


def average(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="One run, or several checkpoints or runs (the best of each)."),
    ],
    count: Annotated[
        int | None, typer.Option(min=2, help="Number of checkpoints of the run (default: all that were kept).")
    ] = None,
    of: Annotated[
        Literal["last", "best"], typer.Option(help="last: the newest checkpoints; best: the best by validation.")
    ] = "last",
    out: Annotated[
        Path | None, typer.Option(help="Folder of the averaged checkpoint (default: RUN/averaged).")
    ] = None,
    json: Json = False,
) -> None:
    """Average the weights of checkpoints; train.keep_last and train.keep_best set how many a run keeps."""
    from regard.cli.console import print_json, print_line
    from regard.runs.average import average as average_run
    from regard.tasks.contract import find_task
    from regard.tasks.load import read_task

    averaged = average_run(runs, out, count, of)
    if json:
        print_json(averaged)
        return
    names = ", ".join(folder.name for folder in averaged.checkpoints)
    print_line(f"{averaged.path}: the mean of {len(averaged.checkpoints)} checkpoints ({names}).")
    operation = find_task(read_task(averaged.path)).operations[0]
    print_line(f"Use it: regard {operation.name} {averaged.path} {operation.usage}")
