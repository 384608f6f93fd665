"""`regard convert`: a trained model in the form of another library, beside its run."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import Json, Quiet
from regard.cli.tools.export import export

ENDINGS = {"word2vec": ".txt", "word2vec-binary": ".bin", "glove": ".glove.txt"}
"""How files of word vectors are called."""


def convert(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run or checkpoint, or a file of word vectors.")],
    to: Annotated[
        str,
        typer.Option(help="hf: Hugging Face transformers; word vectors: word2vec (text), word2vec-binary or glove."),
    ] = "hf",
    out: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="The folder, or file of word vectors (.gz packs it); it must not exist."),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write a run's best model so that another library can load it: `export` with a name; word vectors as a file."""
    from regard.errors import ConfigError

    path = Path(run) if Path(run).name not in ("", "..") else Path(run).resolve()
    if to in ENDINGS:
        _convert_vectors(run, to, path.with_name(path.name + ENDINGS[to]) if out is None else out, quiet, json)
        return
    if to != "hf":
        raise ConfigError(f'--to: "{to}" is not one of hf, {", ".join(ENDINGS)}.')
    if path.is_file():
        raise ConfigError(
            f"{run}: a file of word vectors is written as one of {', '.join(ENDINGS)}; say which with --to."
        )
    export(run, path.with_name(f"{path.name}-{to}") if out is None else out, to, quiet, json)


def _convert_vectors(run: str, form: str, out: Path, quiet: bool, json: bool) -> None:
    from regard.cli.console import print_json, print_line, progress
    from regard.errors import DataError
    from regard.interop.word_vector_files import without_white_space, write_word_vectors
    from regard.pipelines.word_vectors import load_word_vectors

    if out.exists():
        raise DataError(f"{out}: it exists already; name another file with --out.")
    vectors = load_word_vectors(run, progress=progress(quiet))
    table = without_white_space(vectors.table, progress(quiet))
    write_word_vectors(out, table, form)
    if json:
        print_json({"path": out, "form": form, "words": len(table.words), "width": vectors.width})
        return
    print_line(f"{out}: {len(table.words):,} words of {vectors.width} numbers, as {form}.")
