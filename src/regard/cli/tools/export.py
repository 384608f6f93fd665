"""`regard export`, `convert` and `import`: models and word vectors in the formats of other libraries, and back."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.console import use_it
from regard.cli.options import JSON, QUIET, Given, Run, options
from regard.runs.settings import ConvertSettings, ExportSettings


@options(QUIET, JSON, ExportSettings)
def export(
    given: Given,
    run: Run,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Output folder; it must not exist.")],
) -> None:
    """Export a run's best model to another library's format."""
    from regard.runs.export.exporters import write_export

    written = write_export(run, folder, given.settings(ExportSettings).to, given.progress)
    given.show(written.to_dict(), written.summary)


@options(QUIET, JSON, ConvertSettings)
def convert(given: Given, run: Run) -> None:
    """Convert a run's best model, or word vectors, to another library's format.

    RUN may be a word vector file too. The output is next to it.
    """
    from regard.runs.export.convert import convert as convert_model

    chosen = given.settings(ConvertSettings)
    written = convert_model(run, chosen.to, chosen.out, given.progress)
    given.show(written.to_dict(), written.summary)


@options(JSON)
def import_(
    given: Given,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A Hugging Face folder.")],
    out: Annotated[Path, typer.Option(metavar="CHECKPOINT", help="Checkpoint folder; it must not exist.")],
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
    given.show(plain, line, use_it(task.suggested(bundle), out))
