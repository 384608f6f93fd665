"""`regard card`: the card and the curves of a run, written anew."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import Json


def card(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    json: Json = False,
) -> None:
    """Write a run's README.md and curves.png anew from what its folder holds."""
    from regard.cli.console import print_json, print_line
    from regard.runs.reports.curves import CURVES
    from regard.runs.store.folder import Run

    path = Run(run).card()
    if json:
        print_json({"card": path, "curves": run / CURVES})
    else:
        print_line(f"{path} and {run / CURVES} are written.")
