"""`regard average`: one checkpoint out of several."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from regard.cli.options import Json


def average(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="A run, or several checkpoints (or runs: the best of each).")
    ],
    count: Annotated[
        int | None, typer.Option(min=2, help="How many checkpoints of the run; unset: all kept.")
    ] = None,
    of: Annotated[Literal["last", "best"], typer.Option(help="Take the newest, or the best by validation.")] = "last",
    out: Annotated[Path | None, typer.Option(help="Folder of the new checkpoint; unset: RUN/averaged.")] = None,
    json: Json = False,
) -> None:
    """Average checkpoints into a new one; train.keep_last and train.keep_best say how many a run keeps."""
    from regard.cli.console import print_json, print_line
    from regard.cli.metrics import USES
    from regard.runs.average import average as average_run
    from regard.tasks.load import read_task

    made = average_run(runs, out, count, of)
    if json:
        print_json(made)
        return
    names = ", ".join(folder.name for folder in made.checkpoints)
    print_line(f"{made.path}: the mean of {len(made.checkpoints)} checkpoints ({names}).")
    verb, words = USES[read_task(made.path)]
    print_line(f"Use it: regard {verb} {made.path} {words}")
