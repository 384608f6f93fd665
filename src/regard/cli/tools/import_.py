"""`regard import`: a model from another library as a checkpoint."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import Json


def import_(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A Hugging Face folder.")],
    out: Annotated[
        Path, typer.Option(metavar="CHECKPOINT", help="The checkpoint folder to write; it must not exist.")
    ],
    json: Json = False,
) -> None:
    """Turn a Hugging Face model into a checkpoint of regard."""
    from regard.checkpoint.bundle import write_bundle
    from regard.cli.console import print_json, print_line
    from regard.cli.metrics import USES
    from regard.errors import CheckpointError
    from regard.interop.huggingface.read import read

    if out.exists():
        raise CheckpointError(f"{out}: it exists already; name a folder that does not.")
    bundle = read(folder)
    write_bundle(out, bundle)
    parameters = sum(parameter.numel() for parameter in bundle.model.parameters())
    if json:
        print_json({"path": out, "parameters": parameters, "vocabularies": vars(bundle.vocabularies)})
        return
    what = "target tokens" if bundle.task == "translate" else "tokens"
    print_line(f"{out}: {parameters:,} parameters, {bundle.vocabularies.target:,} {what}.")
    has_no_words = "masked words" in bundle.facts.get("untrained", ())
    is_bare = bundle.task == "masked-language-model" and has_no_words
    verb, words = ("embed", "TEXT") if is_bare else USES[bundle.task]
    print_line(f"Use it: regard {verb} {out} {words}")
