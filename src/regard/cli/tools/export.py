"""`regard export`: a trained model in the format of another library."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import Json, Quiet, Run


def export(
    run: Run,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Output folder; it must not exist.")],
    to: Annotated[str, typer.Option(help="hf: Hugging Face transformers, in the matching architecture.")] = "hf",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Export a run's best model to another library's format."""
    from regard.cli.console import print_json, print_line, progress
    from regard.errors import ConfigError
    from regard.interop.huggingface.write import write
    from regard.tasks.load import read_model

    if to != "hf":
        raise ConfigError(f'--to: "{to}" is not one of hf.')
    bundle = read_model(run)
    form = write(bundle, out, progress(quiet))
    if json:
        print_json({"path": out, "form": form.name, "architecture": form.architecture})
        return
    print_line(f"{out}: {form.architecture} with its tokenizer.")
    print_line(f'Use it: transformers.{form.auto}.from_pretrained("{out}")')
