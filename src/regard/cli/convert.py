"""`regard convert`: a trained model in the form of another library, beside its run."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.export import export
from regard.cli.options import Json, Quiet, Run


def convert(
    run: Run,
    to: Annotated[str, typer.Option(help="hf: Hugging Face transformers, in the form that fits.")] = "hf",
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The folder to write; it must not exist. Unset: RUN-hf.")
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write a run's best model so that another library can load it: `export` with a name for the folder."""
    path = Path(run) if Path(run).name not in ("", "..") else Path(run).resolve()
    export(run, path.with_name(f"{path.name}-{to}") if out is None else out, to, quiet, json)
