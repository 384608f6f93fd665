"""Shared input and output of the verbs of fine-tuned models: one prediction per line or table row, in order."""

import sys
from collections.abc import Callable, Container, Iterator, Sequence
from pathlib import Path
from typing import Any

from regard.cli.inputs import chunks
from regard.cli.tables import RECORDS, check_out, is_table, write_cells, write_records


def check_inputs(texts: Sequence[str] | None, file: Path | None, for_tables: dict[str, Any]) -> None:
    """Raise for two input sources, and for table flags without a table."""
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
    pipeline: Any,
    texts: list[str] | None,
    file: Path | None,
    show: Callable[[Any], None],
    reporter: Any,
    **options: object,
) -> None:
    """Predict line by line and `show` each result; None for a blank line."""
    line, truncated = 1, 0
    for chunk in chunks(texts, file):
        given = as_pairs(chunk, line, bool(texts)) if getattr(pipeline, "texts", 1) == 2 else chunk
        has_text = ["".join(each or "").strip() != "" for each in given]
        inputs = [each for each, is_kept in zip(given, has_text) if is_kept]
        where = [f"line {line + index:,}" for index, is_kept in enumerate(has_text) if is_kept]
        predictions = pipeline(inputs, where=where, progress=reporter, **options)
        truncated += sum(getattr(each, "is_truncated", False) for each in predictions)
        remaining = iter(predictions)
        for is_kept in has_text:
            show(next(remaining) if is_kept else None)
        sys.stdout.flush()
        line += len(chunk)
    if truncated:
        reporter.warn(f"{truncated:,} of the texts are longer than the model's maximum length and were truncated.")


def as_pairs(lines: list[str], first: int, is_given: bool) -> Any:
    """Return text pairs: two arguments each, or the two fields of a tab-separated line (None: a blank line)."""
    from regard.errors import DataError

    if is_given:
        if len(lines) % 2:
            raise DataError(f"This model takes text pairs, but {len(lines)} texts were given; give two per pair.")
        return list(zip(lines[::2], lines[1::2]))
    pairs: list[Any] = []
    for number, line in enumerate(lines, start=first):
        parts = tuple(line.split("\t"))
        if line.strip() and len(parts) != 2:
            raise DataError(f"line {number:,}: this model takes text pairs; put a tab between the two texts.")
        pairs.append(parts if line.strip() else None)
    return pairs


def split_lines(file: Path | None, what: str, counts: Container[int]) -> Iterator[list[tuple[str, ...]]]:
    """Yield chunks of tab-separated lines of a file or of standard input as tuples of fields; (): a blank line."""
    from regard.errors import DataError

    first = 1
    for chunk in chunks(None, file):
        rows: list[tuple[str, ...]] = []
        for number, line in enumerate(chunk, start=first):
            rows.append(tuple(line.split("\t")) if line.strip() else ())
            if rows[-1] and len(rows[-1]) not in counts:
                raise DataError(f"line {number:,}: put {what} on a line, separated by tabs.")
        yield rows
        sys.stdout.flush()
        first += len(chunk)


def write_table(table: Any, out: Path | None, json: bool) -> None:
    """Write a table as CSV, or as JSON lines with --json or a .jsonl suffix."""
    is_json = json or (out is not None and out.suffix.lower() in RECORDS)
    write_records(table.records(), out) if is_json else write_cells(table.cells(), out)
