"""`regard average`: the mean of several checkpoints."""

from typing import Annotated

import typer

from regard.cli.console import show, use_it
from regard.cli.options import NOTHING, Given, Json, flags_of, options
from regard.runs.settings import AverageSettings


@options(*flags_of(AverageSettings, shows_defaults=True))
def average(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="A run, or checkpoints or runs (their best).")],
    given: Given = NOTHING,
    json: Json = False,
) -> None:
    """Average the weights of checkpoints: those of a run, or of several.

    train.keep_last and train.keep_best set how many a run keeps.
    """
    from regard.runs.average import average as average_run
    from regard.tasks.contract import find_task
    from regard.tasks.load import read_task

    chosen = given.settings(AverageSettings)
    averaged = average_run(runs, chosen.out, chosen.count, chosen.of)
    names = ", ".join(folder.name for folder in averaged.checkpoints)
    line = f"{averaged.path}: the mean of {len(averaged.checkpoints)} checkpoints ({names})."
    show(json, averaged, line, use_it(find_task(read_task(averaged.path)).operations[0], averaged.path))
