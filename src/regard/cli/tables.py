"""Tables that verbs take and give back."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.cli.options import column

ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
RECORDS = (".jsonl", ".ndjson")
WRITTEN = ("", ".csv", ".tsv", *RECORDS)
"""Endings that a table can be written under; without one it is CSV."""


def is_table(file: Path | None) -> bool:
    """Tell by its ending whether a file has columns."""
    return file is not None and Path(file.name.removesuffix(".gz")).suffix.lower() in ENDINGS


def read_texts(encoder: Any, file: Path | None, text_column: str | None, reporter: Any) -> Any:
    """Return a table with its texts: of the column that is named, or the one that an encoder knows or finds."""
    from regard.pipelines.text_tables import read_text_table

    columns = [] if text_column is None else [column(text_column)]
    return read_text_table(str(file), columns, 1, encoder.columns, reporter)


def check_out(out: Path | None) -> None:
    """Refuse a place for a table that cannot be written, before anything is computed."""
    from regard.errors import ConfigError

    if out is None:
        return
    if not out.parent.is_dir():
        raise ConfigError(f"--out {out}: there is no folder {out.parent}; make it, or name another place.")
    if out.is_dir():
        raise ConfigError(f"--out {out}: this is a folder; name a file inside it.")
    if out.suffix.lower() not in WRITTEN:
        raise ConfigError(f'--out {out}: no table is written as "{out.suffix}"; let it end in .csv, .tsv or .jsonl.')


def write_cells(cells: Sequence[Sequence[str]], out: Path | None) -> None:
    """Write a table, its header first, as CSV to a file or standard output."""
    import csv
    import io

    text = io.StringIO()
    if out is not None and out.suffix.lower() == ".tsv":  # a .tsv knows no quotes: what would part cells is a space
        text.writelines("\t".join(" ".join(cell.split()) for cell in row) + "\n" for row in cells)
    else:
        csv.writer(text, lineterminator="\n").writerows(cells)
    _write(text.getvalue(), len(cells) - 1, out)


def write_records(records: Sequence[dict[str, Any]], out: Path | None) -> None:
    """Write a table as lines of JSON to a file or standard output."""
    from json import dumps

    _write("".join(dumps(row, ensure_ascii=False) + "\n" for row in records), len(records), out)


def _write(text: str, rows: int, out: Path | None) -> None:
    from regard.cli.console import print_line, write

    if out is None:
        write(text)
        return
    out.write_text(text, encoding="utf-8", newline="")
    print_line(f"{out}: {rows:,} rows.")
