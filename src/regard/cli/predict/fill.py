"""`regard fill`: predictions of a masked language model for [MASK]."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.inputs import chunks
from regard.cli.options import Device, Json, Precision, Quiet, Run, Threads
from regard.cli.tables import is_table, read_texts, write_cells, write_records


def fill(
    run: Run,
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT]...", help="Texts with [MASK] (default: standard input, one per line)."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", help="Input file: lines of text, or a .csv, .tsv or .jsonl table."),
    ] = None,
    top: Annotated[int, typer.Option("--top", "-k", min=1, help="Tokens to list for each mask.")] = 5,
    candidates: Annotated[
        str | None, typer.Option(help="Restrict predictions to these words, separated by commas: red,green,blue.")
    ] = None,
    text_column: Annotated[
        str | None, typer.Option(help="Text column of an input table: its name, or index from 0.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Output table (default: standard output).")] = None,
    device: Device = None,
    precision: Precision = "fp32",
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Predict the token of every [MASK]: mask number, probability, token, and the filled text, one per line.

    Each mask is predicted independently; the filled text has the most probable tokens at the other masks. For files
    and pipes the line number comes first, and blank lines are skipped. A table comes back as CSV with the most
    probable tokens filled in.
    """
    from regard.cli.console import progress
    from regard.errors import ConfigError
    from regard.tasks.load import load
    from regard.tasks.masked_lm.task import TASK
    from regard.training.device.machine import use_threads

    if texts and file:
        raise ConfigError("Give either texts or --file, not both.")
    if not is_table(file) and (text_column or out):
        raise ConfigError("--text-column and --out are for tables; give one with --file.")
    use_threads(threads)
    encoder = load(run, device or "auto", precision=precision, task=TASK.name)
    options: dict[str, Any] = {
        "top": top,
        "candidates": [word.strip() for word in candidates.split(",")] if candidates else (),
    }
    reporter = progress(quiet)
    if is_table(file):
        _fill_table(encoder, file, text_column, options | {"progress": reporter}, out, json)
        return
    line = 1
    for chunk in chunks(texts, file):
        kept = [(number, text) for number, text in enumerate(chunk, start=line) if text.strip()]
        where = [f"line {number:,}" for number, _ in kept]
        fillings = encoder.fill([text for _, text in kept], where=where, progress=reporter, **options)
        for (number, _), filling in zip(kept, fillings, strict=True):
            _print_filling(filling, None if texts and len(texts) == 1 else number, json)
        sys.stdout.flush()
        line += len(chunk)


def _print_filling(filling: Any, line: int | None, json: bool) -> None:
    from regard.cli.console import print_json, print_line

    if json:
        print_json({"text": filling.text, "filled": filling.filled, "masks": filling.masks}, indent=None)
        return
    for mask, candidates in enumerate(filling.masks):
        for each in candidates:
            cells = [str(mask + 1), f"{each.probability:.4f}", each.token, filling.filled_with(mask, each)]
            print_line("\t".join(cells if line is None else [str(line), *cells]))


def _fill_table(
    encoder: Any, file: Path | None, text_column: str | None, options: dict[str, Any], out: Path | None, json: bool
) -> None:
    table = read_texts(encoder, file, text_column, options["progress"])
    given = [(text, where) for (text,), where in zip(table.texts, table.where, strict=True) if text]
    filled = iter(encoder.fill([text for text, _ in given], where=[where for _, where in given], **options))
    fillings = [next(filled) if text else None for (text,) in table.texts]
    if json:
        added = ({"filled": each and each.filled, "masks": each and _plain(each)} for each in fillings)
        write_records(table.records(added), out)
        return
    cells = (["", "", ""] if each is None else [each.filled, *_best(each)] for each in fillings)
    write_cells(table.cells(("filled", "tokens", "probabilities"), cells), out)


def _plain(filling: Any) -> list[list[dict[str, Any]]]:
    return [[vars(each) for each in candidates] for candidates in filling.masks]


def _best(filling: Any) -> tuple[str, str]:
    """Return the most probable token of each mask and their probabilities, both separated by spaces."""
    best = [candidates[0] for candidates in filling.masks]
    return " ".join(each.token for each in best), " ".join(f"{each.probability:.6f}" for each in best)
