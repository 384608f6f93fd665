"""`regard import`: a model from another library as a checkpoint."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.console import show, use_it
from regard.cli.options import Json


def import_(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A Hugging Face folder.")],
    out: Annotated[Path, typer.Option(metavar="CHECKPOINT", help="Checkpoint folder; it must not exist.")],
    json: Json = False,
) -> None:
    """Turn a Hugging Face model into a checkpoint of regard."""
    from regard.checkpoint.bundle import write_bundle
    from regard.errors import CheckpointError
    from regard.interop.huggingface.read import read
    from regard.tasks.contract import find_task

    if out.exists():
        raise CheckpointError(f"{out}: it exists already; name a folder that does not.")
    bundle = read(folder)
    write_bundle(out, bundle)
    task, parameters = find_task(bundle.task), sum(each.numel() for each in bundle.model.parameters())
    line = f"{out}: {parameters:,} parameters, {bundle.vocabularies.target:,} {task.wording.tokens}."
    plain = {"path": out, "parameters": parameters, "vocabularies": vars(bundle.vocabularies)}
    show(json, plain, line, use_it(task.suggested(bundle), out))
