"""`regard convert`: a trained model, or word vectors, in the format of another library, next to the run."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import Json, Quiet
from regard.cli.tools.export import export

ENDINGS = {"word2vec": ".txt", "word2vec-binary": ".bin", "glove": ".glove.txt"}
"""Suffixes of word vector files by format."""


def convert(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Folder of a run or checkpoint, or a word vector file.")],
    to: Annotated[
        str,
        typer.Option(
            help="Format: hf (Hugging Face transformers), checkpoint (weights in one file), word2vec[-binary], glove."
        ),
    ] = "hf",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Output folder, or word vector file (.gz compresses it); it must not exist (default: RUN plus the "
            "format).",
        ),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Convert a run's best model, or word vectors, to another library's format, next to the run."""
    from regard.errors import ConfigError
    from regard.registry import EXPORTERS

    path = Path(run) if Path(run).name not in ("", "..") else Path(run).resolve()
    if to in ENDINGS:
        _convert_vectors(run, to, path.with_name(path.name + ENDINGS[to]) if out is None else out, quiet, json)
        return
    if to not in EXPORTERS:
        raise ConfigError(f'--to: "{to}" is not one of {", ".join([*EXPORTERS.names(), *ENDINGS])}.')
    if path.is_file():
        raise ConfigError(
            f"{run}: a word vector file is converted to one of {', '.join(ENDINGS)}; choose one with --to."
        )
    export(run, path.with_name(f"{path.name}-{to}") if out is None else out, to, quiet, json)


def _convert_vectors(run: str, form: str, out: Path, quiet: bool, json: bool) -> None:
    from regard.cli.console import print_json, print_line, progress
    from regard.errors import DataError
    from regard.interop.word_vector_files import underscored, write_word_vectors
    from regard.pipelines.word_vectors import load_word_vectors

    if out.exists():
        raise DataError(f"{out}: the file exists; name another with --out.")
    vectors = load_word_vectors(run, progress=progress(quiet))
    table = underscored(vectors.entries, progress(quiet))
    write_word_vectors(out, table, form)
    if json:
        print_json({"path": out, "form": form, "words": len(table.words), "width": vectors.width})
        return
    print_line(f"{out}: {len(table.words):,} words, {vectors.width} dimensions, format {form}.")
