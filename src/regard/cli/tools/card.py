"""`regard card`: rewriting the card and the curves of a run."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import Json


def card(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    json: Json = False,
) -> None:
    """Rewrite a run's card (README.md) and curves.png from the files in its folder."""
    from regard.cli.console import print_json, print_line
    from regard.runs.reports.curves import CURVES
    from regard.runs.run import Run

    path = Run(run).card()
    if json:
        print_json({"card": path, "curves": run / CURVES})
    else:
        print_line(f"written: {path}, {run / CURVES}")
