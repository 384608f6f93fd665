"""`regard classify`: texts in, labels out; a table in, the table with labels out."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.inputs import chunks
from regard.cli.options import Device, Json, Precision, Quiet, Run, Threads, column
from regard.cli.tables import is_table, write_cells, write_records


def classify(
    run: Run,
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT]...", help="Text (two by two for pairs); unset: standard input, one a line."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", help="Label the lines of this file, or the rows of a .csv, .tsv or .jsonl."),
    ] = None,
    text_column: Annotated[
        list[str] | None,
        typer.Option(help="Column of a table (name, or number from 0) with the text; twice for pairs."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the table here; unset: to standard output.")] = None,
    device: Device = None,
    precision: Precision = "fp32",
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Label texts: a label and its probability for each line, in order, blank lines kept; CSV for tables.

    Pairs have a tab between their texts, or are two columns of a table.
    """
    from regard.cli.console import progress
    from regard.errors import ConfigError
    from regard.pipelines import load_classifier
    from regard.training import use_threads

    if texts and file:
        raise ConfigError("Give either texts or --file, not both.")
    if not is_table(file) and (text_column or out):
        raise ConfigError("--text-column and --out are for tables; give one with --file.")
    use_threads(threads)
    classifier = load_classifier(run, device or "auto", precision=precision)
    reporter = progress(quiet)
    if is_table(file):
        from regard.pipelines.label_tables import label_table

        table = label_table(classifier, str(file), [column(word) for word in text_column or []], reporter)
        write_records(table.records(), out) if json else write_cells(table.cells(), out)
        return
    line, cut = 1, 0
    for chunk in chunks(texts, file):
        given = _pairs(chunk, line, bool(texts)) if classifier.texts == 2 else chunk
        has_text = ["".join(each or "").strip() != "" for each in given]
        whole = [each for each, is_kept in zip(given, has_text) if is_kept]
        numbers = [line + place for place, is_kept in enumerate(has_text) if is_kept]
        found = classifier(whole, lines=numbers, progress=reporter)
        cut += sum(each.is_cut for each in found)
        answers = iter(found)
        for is_kept in has_text:
            _print_answer(next(answers) if is_kept else None, json)
        sys.stdout.flush()
        line += len(chunk)
    if cut:
        reporter.warn(f"{cut:,} of the texts are longer than this model reads, and their ends were left out.")


def _pairs(lines: list[str], first: int, is_given: bool) -> Any:
    """Return lines as pairs: two words of the command line each, or two sides of a tab; a blank line is none."""
    from regard.errors import DataError

    if is_given:
        if len(lines) % 2:
            raise DataError(f"This model labels pairs of texts, and here are {len(lines)}; give two for each.")
        return list(zip(lines[::2], lines[1::2]))
    found: list[Any] = []
    for number, line in enumerate(lines, start=first):
        parts = tuple(line.split("\t"))
        if line.strip() and len(parts) != 2:
            raise DataError(f"line {number:,}: this model labels pairs of texts; put a tab between the two.")
        found.append(parts if line.strip() else None)
    return found


def _print_answer(answer: Any, json: bool) -> None:
    from regard.cli.console import print_json, print_line

    if json:
        print_json(None if answer is None else vars(answer) | {"probability": answer.probability}, indent=None)
    else:
        print_line("" if answer is None else f"{answer.label}\t{answer.probability:.4f}")
