"""`regard export`: a trained model in the form of another library."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import Json, Quiet, Run


def export(
    run: Run,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write; it must not exist.")],
    to: Annotated[str, typer.Option(help="hf: Hugging Face transformers, in the form that fits.")] = "hf",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write a run's best model so that another library can load it."""
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
    print_line(f"{out}: a {form.architecture} with its tokenizer.")
    print_line(f'Use it: transformers.{form.auto}.from_pretrained("{out}")')
