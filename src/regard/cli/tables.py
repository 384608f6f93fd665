"""Input and output tables of verbs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.cli.options import column

ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
RECORDS = (".jsonl", ".ndjson")
WRITTEN = ("", ".csv", ".tsv", *RECORDS)
"""Suffixes of output tables; without one it is CSV."""


def is_table(file: Path | None) -> bool:
    """Return True for a file with the suffix of a table."""
    return file is not None and Path(file.name.removesuffix(".gz")).suffix.lower() in ENDINGS


def read_texts(encoder: Any, file: Path | None, text_column: str | None, reporter: Any) -> Any:
    """Return a table and its texts: from the given column, else the encoder's training column, else a guess."""
    from regard.pipelines.text_tables import read_text_table

    columns = [] if text_column is None else [column(text_column)]
    return read_text_table(str(file), columns, 1, encoder.columns, reporter)


def check_out(out: Path | None) -> None:
    """Raise for an output path that cannot be written, before anything is computed."""
    from regard.errors import ConfigError

    if out is None:
        return
    if not out.parent.is_dir():
        raise ConfigError(f"--out {out}: there is no folder {out.parent}; create it, or name another file.")
    if out.is_dir():
        raise ConfigError(f"--out {out}: this is a folder; name a file inside it.")
    if out.suffix.lower() not in WRITTEN:
        raise ConfigError(f'--out {out}: no table is written as "{out.suffix}"; use .csv, .tsv or .jsonl.')


def write_cells(cells: Sequence[Sequence[str]], out: Path | None) -> None:
    """Write a table, its header first, as CSV to a file or standard output."""
    import csv
    import io

    text = io.StringIO()
    if out is not None and out.suffix.lower() == ".tsv":  # no quoting in a .tsv: separators become spaces
        text.writelines("\t".join(" ".join(cell.split()) for cell in row) + "\n" for row in cells)
    else:
        csv.writer(text, lineterminator="\n").writerows(cells)
    _write(text.getvalue(), len(cells) - 1, out)


def write_records(records: Sequence[dict[str, Any]], out: Path | None) -> None:
    """Write a table as JSON lines to a file or standard output."""
    from json import dumps

    _write("".join(dumps(row, ensure_ascii=False) + "\n" for row in records), len(records), out)


def _write(text: str, rows: int, out: Path | None) -> None:
    from regard.cli.console import print_line, write

    if out is None:
        write(text)
        return
    out.write_text(text, encoding="utf-8", newline="")
    print_line(f"{out}: {rows:,} rows.")
