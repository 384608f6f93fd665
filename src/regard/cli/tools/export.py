"""`regard export`, `convert` and `import`: models and word vectors in the formats of other libraries, and back."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.console import progress, show, use_it
from regard.cli.options import NOTHING, Given, Json, Quiet, Run, flags_of, options
from regard.runs.settings import ConvertSettings, ExportSettings


@options(*flags_of(ExportSettings, shows_defaults=True))
def export(
    run: Run,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Output folder; it must not exist.")],
    given: Given = NOTHING,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Export a run's best model to another library's format."""
    write(run, folder, given.settings(ExportSettings).to, quiet, json)


@options(*flags_of(ConvertSettings, shows_defaults=True))
def convert(run: Run, given: Given = NOTHING, quiet: Quiet = False, json: Json = False) -> None:
    """Convert a run's best model, or word vectors, to another library's format.

    RUN may be a word vector file too. The output is next to it.
    """
    from regard.errors import ConfigError
    from regard.interop.word_vector_files import ENDINGS
    from regard.registry import EXPORTERS
    from regard.runs.export.word_vectors import export_vectors

    chosen = given.settings(ConvertSettings)
    path = Path(run) if Path(run).name not in ("", "..") else Path(run).resolve()
    if chosen.to in ENDINGS:
        out = chosen.out or path.with_name(path.name + ENDINGS[chosen.to])
        written = export_vectors(run, chosen.to, out, progress(quiet))
        show(json, vars(written), written.summary)
        return
    if chosen.to not in EXPORTERS:
        raise ConfigError(f'--to: "{chosen.to}" is not one of {", ".join([*EXPORTERS.names(), *ENDINGS])}.')
    if path.is_file():
        raise ConfigError(
            f"{run}: a word vector file is converted to one of {', '.join(ENDINGS)}; choose one with --to."
        )
    write(run, chosen.out or path.with_name(f"{path.name}-{chosen.to}"), chosen.to, quiet, json)


def write(run: str, folder: Path, to: str, quiet: bool, json: bool) -> None:
    """Write a model in a format, and print where it is."""
    from regard.runs.export.exporters import write_export

    written = write_export(run, folder, to, progress(quiet))
    plain = {"path": written.path, "form": written.form, "architecture": written.architecture}
    show(json, plain, f"{written.path}: {written.architecture} with its tokenizer.", f"Use it: {written.use}")


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
