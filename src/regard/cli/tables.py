"""Output of verbs: results as lines, JSON, or tables."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from regard.cli.console import print_json, print_line, write
from regard.errors import ConfigError

if TYPE_CHECKING:
    from regard.pipelines.base import Result
    from regard.pipelines.result_tables import ResultTable

RECORDS = (".jsonl", ".ndjson")
WRITTEN = ("", ".csv", ".tsv", *RECORDS)
"""Suffixes of output tables; without one it is CSV."""


def check_out(out: Path | None, more: Sequence[str] = ()) -> None:
    """Raise for an output path that cannot be written, before anything is computed; `more` are further suffixes."""
    if out is None:
        return
    if not out.parent.is_dir():
        raise ConfigError(f"--out {out}: there is no folder {out.parent}; create it, or name another file.")
    if out.is_dir():
        raise ConfigError(f"--out {out}: this is a folder; name a file inside it.")
    if out.suffix.lower() not in (*WRITTEN, *more):
        *names, last = ".csv", ".tsv", ".jsonl", *(each for each in more if each not in WRITTEN)
        raise ConfigError(f'--out {out}: no table is written as "{out.suffix}"; use {", ".join(names)} or {last}.')


def print_results(
    kind: "type[Result]", results: Iterable["Result | None"], is_json: bool, first: int | None = None
) -> None:
    """Print each result of a kind: a line of JSON, or its text; `first` is the number of the first row."""
    from regard.pipelines.result_tables import result_text

    for offset, result in enumerate(results):
        if is_json:
            print_json(result and result.to_dict(), indent=None)
        else:
            write(result_text(kind, result, None if first is None else first + offset))
    sys.stdout.flush()


def write_results(table: "ResultTable", out: Path | None, is_json: bool) -> None:
    """Write rows with their results: in a format of the results, as JSON lines, or as CSV."""
    results = [each for each in table.results if each is not None]
    if out is not None and results and out.suffix.lower() in results[0].files:
        type(results[0]).write(out, results)
        _report(out, len(results))
    elif is_json or (out is not None and out.suffix.lower() in RECORDS):
        _write(table.as_lines(), len(table.results), out)
    else:
        _write(table.as_text(out is not None and out.suffix.lower() == ".tsv"), len(table.results), out)


def _write(text: str, rows: int, out: Path | None) -> None:
    if out is None:
        write(text)
        return
    out.write_text(text, encoding="utf-8", newline="")
    _report(out, rows)


def _report(out: Path, rows: int) -> None:
    print_line(f"{out}: {rows:,} row{'' if rows == 1 else 's'}.")
