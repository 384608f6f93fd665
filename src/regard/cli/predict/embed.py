"""`regard embed`: vectors of texts or of their tokens."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.inputs import chunks
from regard.cli.options import Device, Json, Layer, Pooling, Precision, Quiet, Run, Threads
from regard.cli.tables import is_table, read_texts, write_cells


def embed(
    run: Run,
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT]...", help="Texts (default: standard input, one per line).")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", help="Input file: lines of text, or a .csv, .tsv or .jsonl table."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Output file: .npz (arrays), .jsonl or .csv (default: standard output)."),
    ] = None,
    tokens: Annotated[
        bool, typer.Option("--tokens", help="Output one vector per token instead of per text.")
    ] = False,
    pooling: Pooling = None,
    layer: Layer = -1,
    normalize: Annotated[
        bool | None,
        typer.Option(
            "--normalize/--no-normalize", help="Normalize vectors to unit length (default: the model's own setting)."
        ),
    ] = None,
    text_column: Annotated[
        str | None, typer.Option(help="Text column of an input table: its name, or index from 0.")
    ] = None,
    device: Device = None,
    precision: Precision = "fp32",
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Encode texts as vectors: one line of tab-separated numbers per text, in order.

    A table comes back as CSV with the features in additional columns v0, v1, ... With --tokens, each token has its
    own line, and a blank line ends a text.
    """
    flags = dict(locals())
    from regard.cli.console import print_line, progress
    from regard.pipelines.vector_files import write_token_vectors, write_vectors
    from regard.tasks.load import load_encoder
    from regard.training.device.machine import use_threads

    _check(flags)
    use_threads(threads)
    encoder = load_encoder(run, device or "auto", precision=precision)
    settings: dict[str, Any] = {"layer": layer, "progress": progress(quiet)}
    settings |= {} if tokens else {"pooling": pooling, "is_normalized": normalize}
    encode = encoder.tokens if tokens else encoder.embed
    if is_table(file):
        table = read_texts(encoder, file, text_column, settings["progress"])
        given = [text for (text,) in table.texts]
        if not tokens and not json and (out is None or out.suffix == ".csv"):
            _write_table(table, encode(given, **settings), out)
            return
        parts: Any = [given]
    else:
        parts = chunks(texts, file)
    if out is None:
        for part in parts:
            _print(part, encode(part, **settings), tokens, json)
            sys.stdout.flush()
        return
    given = [text for part in parts for text in part]
    if tokens:
        write_token_vectors(out, encoder.tokens(given, **settings))
    else:
        write_vectors(out, given, encoder.embed(given, **settings))
    print_line(f"{out}: vectors of {len(given):,} text{'s' if len(given) != 1 else ''}.")


def _check(flags: dict[str, Any]) -> None:
    """Raise for conflicting arguments, before a model is loaded."""
    from regard.errors import ConfigError
    from regard.pipelines.vector_files import check_ending

    if flags["texts"] and flags["file"]:
        raise ConfigError("Give either texts or --file, not both.")
    if flags["tokens"] and (flags["pooling"] or flags["normalize"] is not None):
        raise ConfigError("--pooling and --normalize are for one vector per text; leave them out with --tokens.")
    if flags["text_column"] and not is_table(flags["file"]):
        raise ConfigError("--text-column is for tables; give one with --file.")
    if flags["out"] is not None:
        check_ending(flags["out"])


def _write_table(table: Any, vectors: Any, out: Path | None) -> None:
    from regard.pipelines.vector_files import column_names, in_words

    write_cells(table.cells(column_names(vectors.shape[1]), map(in_words, vectors)), out)


def _print(texts: list[str], vectors: Any, tokens: bool, json: bool) -> None:
    from regard.cli.console import print_json, print_line
    from regard.pipelines.vector_files import in_words

    for text, each in zip(texts, vectors, strict=True):
        if json:
            plain = {"tokens": each.tokens, "vectors": each.vectors.tolist()} if tokens else {"vector": each.tolist()}
            print_json({"text": text} | plain, indent=None)
        elif tokens:
            for token, vector in zip(each.tokens, each.vectors, strict=True):
                print_line("\t".join([token, *in_words(vector)]))
            print_line()
        else:
            print_line("\t".join(in_words(each)))
