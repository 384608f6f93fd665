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
    from regard.errors import CheckpointError
    from regard.interop.huggingface.read import read
    from regard.tasks.contract import find_task

    if out.exists():
        raise CheckpointError(f"{out}: it exists already; name a folder that does not.")
    bundle = read(folder)
    write_bundle(out, bundle)
    parameters = sum(parameter.numel() for parameter in bundle.model.parameters())
    if json:
        print_json({"path": out, "parameters": parameters, "vocabularies": vars(bundle.vocabularies)})
        return
    task = find_task(bundle.task)
    print_line(f"{out}: {parameters:,} parameters, {bundle.vocabularies.target:,} {task.wording.tokens}.")
    operation = task.suggested(bundle)
    print_line(f"Use it: regard {operation.name} {out} {operation.usage}")
