"""`regard card`: rewriting the card and the curves of a run."""

from pathlib import Path

from regard.cli.console import show
from regard.cli.options import Json, RunFolder


def card(run: RunFolder, json: Json = False) -> None:
    """Rewrite a run's card (README.md) and curves.png from the files in its folder."""
    from regard.runs.reports.curves import CURVES
    from regard.runs.run import Run

    path, curves = Run(run).card(), Path(run) / CURVES
    show(json, {"card": path, "curves": curves}, f"written: {path}, {curves}")
