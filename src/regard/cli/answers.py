"""What verbs over models with a head share: lines of text or a table in, an answer for each out, in order."""

import sys
from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path
from typing import Any

from regard.cli.inputs import chunks
from regard.cli.tables import RECORDS, check_out, is_table, write_cells, write_records


def check_inputs(texts: Sequence[str] | None, file: Path | None, for_tables: dict[str, Any]) -> None:
    """Refuse two sources of texts, and flags that mean nothing without a table."""
    from regard.errors import ConfigError

    if texts and file:
        raise ConfigError("Give either texts or --file, not both.")
    given = [f"--{name.replace('_', '-')}" for name, value in for_tables.items() if value]
    if given and not is_table(file):
        verb = "is" if len(for_tables) == 1 else "are"
        names = " and ".join(f"--{name.replace('_', '-')}" for name in for_tables)
        raise ConfigError(f"{names} {verb} for tables; give one with --file.")
    check_out(for_tables.get("out"))


def answer_lines(
    pipeline: Any, texts: list[str] | None, file: Path | None, show: Callable[[Any], None], reporter: Any
) -> None:
    """Answer line by line, blank lines kept; `show` is given None for those."""
    line, cut = 1, 0
    for chunk in chunks(texts, file):
        given = as_pairs(chunk, line, bool(texts)) if getattr(pipeline, "texts", 1) == 2 else chunk
        has_text = ["".join(each or "").strip() != "" for each in given]
        whole = [each for each, is_kept in zip(given, has_text) if is_kept]
        numbers = [line + place for place, is_kept in enumerate(has_text) if is_kept]
        found = pipeline(whole, lines=numbers, progress=reporter)
        cut += sum(getattr(each, "is_truncated", False) for each in found)
        answers = iter(found)
        for is_kept in has_text:
            show(next(answers) if is_kept else None)
        sys.stdout.flush()
        line += len(chunk)
    if cut:
        reporter.warn(f"{cut:,} of the texts are longer than this model reads, and their ends were left out.")


def as_pairs(lines: list[str], first: int, is_given: bool) -> Any:
    """Return lines as pairs: two words of the command line each, or two sides of a tab; a blank line is none."""
    from regard.errors import DataError

    if is_given:
        if len(lines) % 2:
            raise DataError(f"This model reads pairs of texts, and here are {len(lines)}; give two for each.")
        return list(zip(lines[::2], lines[1::2]))
    found: list[Any] = []
    for number, line in enumerate(lines, start=first):
        parts = tuple(line.split("\t"))
        if line.strip() and len(parts) != 2:
            raise DataError(f"line {number:,}: this model reads pairs of texts; put a tab between the two.")
        found.append(parts if line.strip() else None)
    return found


def split_lines(file: Path | None, what: str, counts: Container[int]) -> Iterator[list[tuple[str, ...]]]:
    """Yield the parts of lines of a file or of standard input, some lines at a time; a blank line has none."""
    from regard.errors import DataError

    first = 1
    for chunk in chunks(None, file):
        rows: list[tuple[str, ...]] = []
        for number, line in enumerate(chunk, start=first):
            rows.append(tuple(line.split("\t")) if line.strip() else ())
            if rows[-1] and len(rows[-1]) not in counts:
                raise DataError(f"line {number:,}: put {what} on a line, with a tab between each and the next.")
        yield rows
        sys.stdout.flush()
        first += len(chunk)


def write_table(table: Any, out: Path | None, json: bool) -> None:
    """Write a table as CSV, or as lines of JSON where that is asked for or the ending says so."""
    is_json = json or (out is not None and out.suffix.lower() in RECORDS)
    write_records(table.records(), out) if is_json else write_cells(table.cells(), out)
