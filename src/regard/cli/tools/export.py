"""`regard export`: a trained model in the format of another library."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import Json, Quiet, Run


def export(
    run: Run,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Output folder; it must not exist.")],
    to: Annotated[
        str,
        typer.Option(help="hf: Hugging Face transformers, in the matching architecture; or an installed exporter."),
    ] = "hf",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Export a run's best model to another library's format."""
    from regard.cli.console import print_json, print_line, progress
    from regard.runs.export.exporters import write_export

    written = write_export(run, folder, to, progress(quiet))
    if json:
        print_json({"path": written.path, "form": written.form, "architecture": written.architecture})
        return
    print_line(f"{written.path}: {written.architecture} with its tokenizer.")
    print_line(f"Use it: {written.use}")
