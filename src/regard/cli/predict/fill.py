"""`regard fill`: texts with [MASK] in, the likeliest words for each out."""

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
        typer.Argument(metavar="[TEXT]...", help="Text with [MASK] in it; unset: standard input, one a line."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", help="Fill the lines of this file, or the rows of a .csv, .tsv or .jsonl."),
    ] = None,
    top: Annotated[int, typer.Option("--top", "-k", min=1, help="How many words to list for each mask.")] = 5,
    candidates: Annotated[
        str | None, typer.Option(help="Only words of this list, with commas between: red,green,blue.")
    ] = None,
    text_column: Annotated[
        str | None, typer.Option(help="Column of a table (name, or number from 0) with the text.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the table here; unset: to standard output.")] = None,
    device: Device = None,
    precision: Precision = "fp32",
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Find words for every [MASK]: its number in the text, a probability, a token, and the text with it.

    Each mask is filled on its own; the text shows the likeliest words in the other places. Lines of a file or a pipe
    have their number before all else, and blank ones are passed over. A table comes back as CSV with the likeliest
    words filled in.
    """
    from regard.cli.console import progress
    from regard.errors import ConfigError
    from regard.tasks.load import load_masked
    from regard.training.device.machine import use_threads

    if texts and file:
        raise ConfigError("Give either texts or --file, not both.")
    if not is_table(file) and (text_column or out):
        raise ConfigError("--text-column and --out are for tables; give one with --file.")
    use_threads(threads)
    encoder = load_masked(run, device or "auto", precision=precision)
    choice: dict[str, Any] = {
        "top": top,
        "candidates": [word.strip() for word in candidates.split(",")] if candidates else (),
    }
    reporter = progress(quiet)
    if is_table(file):
        _fill_table(encoder, file, text_column, choice | {"progress": reporter}, out, json)
        return
    line = 1
    for chunk in chunks(texts, file):
        kept = [(number, text) for number, text in enumerate(chunk, start=line) if text.strip()]
        where = [f"line {number:,}" for number, _ in kept]
        answers = encoder.fill([text for _, text in kept], where=where, progress=reporter, **choice)
        for (number, _), answer in zip(kept, answers, strict=True):
            _print_answer(answer, None if texts and len(texts) == 1 else number, json)
        sys.stdout.flush()
        line += len(chunk)


def _print_answer(answer: Any, line: int | None, json: bool) -> None:
    from regard.cli.console import print_json, print_line

    if json:
        print_json({"text": answer.text, "filled": answer.filled, "masks": answer.masks}, indent=None)
        return
    for mask, fillers in enumerate(answer.masks):
        for each in fillers:
            words = [str(mask + 1), f"{each.probability:.4f}", each.token, answer.filled_with(mask, each)]
            print_line("\t".join(words if line is None else [str(line), *words]))


def _fill_table(
    encoder: Any, file: Path | None, text_column: str | None, choice: dict[str, Any], out: Path | None, json: bool
) -> None:
    table = read_texts(encoder, file, text_column, choice["progress"])
    given = [(text, where) for (text,), where in zip(table.texts, table.where, strict=True) if text]
    found = iter(encoder.fill([text for text, _ in given], where=[where for _, where in given], **choice))
    answers = [next(found) if text else None for (text,) in table.texts]
    if json:
        added = ({"filled": each and each.filled, "masks": each and _plain(each)} for each in answers)
        write_records(table.records(added), out)
        return
    cells = (["", "", ""] if each is None else [each.filled, *_best(each)] for each in answers)
    write_cells(table.cells(("filled", "tokens", "probabilities"), cells), out)


def _plain(answer: Any) -> list[list[dict[str, Any]]]:
    return [[vars(each) for each in fillers] for fillers in answer.masks]


def _best(answer: Any) -> tuple[str, str]:
    """Return the likeliest token of each mask, and their probabilities, a space between them."""
    best = [fillers[0] for fillers in answer.masks]
    return " ".join(each.token for each in best), " ".join(f"{each.probability:.6f}" for each in best)
