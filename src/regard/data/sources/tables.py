"""Tables as rows with named columns: CSV, TSV, JSON lines and `datasets`."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from regard.config.parsing import ParseError, parse_json
from regard.data.sources.cells import Row
from regard.data.sources.lines import read_lines, read_text
from regard.data.sources.memory import class_name, class_names
from regard.data.sources.records import NO_FIELDS, dataset_rows, json_object, load_datasets
from regard.errors import DataError

OTHER_SEPARATORS = (";", "\t")
GLANCE = 1000
"""Records whose fields make the columns of a table."""
WIDEST_CELL = 2**31 - 1
"""Maximum size of a cell in characters: texts may be long, and the file size is bounded."""


@dataclass(frozen=True)
class Table:
    """Rows by column name (its number from 0, without a header), each with its line or record number."""

    origin: str
    names: list[str]
    rows: list[tuple[str, Row]]
    has_header: bool = True

    def check_once(self, *names: str | None) -> None:
        """Refuse ambiguous columns: those whose name another column has too."""
        counts = Counter(each.strip().lower() for each in self.names)
        for name in names:
            if name is not None and (count := counts[name.strip().lower()]) > 1:
                raise DataError(f'{self.origin}: {count} columns are called "{name}"; rename or remove all but one.')

    def column(self, name: str | int) -> str:
        """Return the column of a name or a number given by the user."""
        if isinstance(name, int):
            if name >= len(self.names):
                raise DataError(
                    f"{self.origin}: there is no column {name} (counted from 0); it has {len(self.names)} columns."
                )
            return self.names[name]
        known = {each.strip().lower(): each for each in self.names}
        if name.lower() in known:
            return known[name.lower()]
        if "." in name:  # a nested field
            return name
        raise DataError(f'{self.origin}: there is no column "{name}" ({", ".join(self.names)}).')


def read_rows(
    path: str, config: str | None, split: str, is_header: Callable[[Sequence[str]], bool], limit: int | None = None
) -> Table:
    """Return the table at a path; `is_header` decides whether the first row of a .csv or .tsv is a header.

    With a limit, no more records of JSON lines and of data sets are read.
    """
    if path.startswith("hf:"):
        return _from_datasets(path, config, split, limit)
    file = Path(path)
    suffix = Path(file.name.removesuffix(".gz")).suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        rows: list[tuple[str, Row]] = [
            (f"record {number}", row) for number, row in enumerate(json_rows(file, limit), 1)
        ]
        return _from_records(path, rows)
    if suffix == ".json":
        return _from_records(path, [(f"record {number}", row) for number, row in enumerate(_json_list(file), 1)])
    if suffix in (".tsv", ".csv"):
        return _from_cells(path, split_rows(file, suffix), is_header)
    raise DataError(
        f'{path}: the extension "{suffix}" is not a table format; use .csv, .tsv, .jsonl or .json (each also .gz).'
    )


def table_of_lines(path: str, lines: Sequence[str]) -> Table:
    """Return lines of JSON as a table."""
    rows = enumerate((json_object(line, Path(path), number) for number, line in enumerate(lines, 1)), 1)
    return _from_records(path, [(f"record {number}", row) for number, row in rows])


def _from_records(path: str, rows: list[tuple[str, Row]]) -> Table:
    return Table(path, list(dict.fromkeys(name for _, row in rows[:GLANCE] for name in row)), rows)


def _json_list(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a .json file: a list, a list under `data`, or JSON lines."""
    text = read_text(path)
    try:
        value = parse_json(text, keys_once=True)
    except ParseError as error:
        if error.reason == "Extra data":
            return json_rows(path)
        where = "this" if error.line is None else f"line {error.line}"
        raise DataError(f"{path}: {where} is not JSON ({error.reason}); fix it.") from None
    rows = value.get("data", [value]) if isinstance(value, dict) else value
    if not isinstance(rows, list) or not all(isinstance(each, dict) for each in rows):
        raise DataError(
            f"{path}: this is not a list of JSON objects; write one object per line and name the file .jsonl."
        )
    return rows


def _from_cells(origin: str, rows: list[tuple[int, list[str]]], is_header: Callable[[Sequence[str]], bool]) -> Table:
    while rows and not "".join(rows[0][1]).strip():
        rows = rows[1:]
    if not rows:
        return Table(origin, [], [])
    first = [cell.strip() for cell in rows[0][1]]
    has_header = is_header(first)
    names = first if has_header else [str(number) for number in range(len(first))]
    records: list[tuple[str, Row]] = []
    for number, cells in rows[1:] if has_header else rows:
        check_cells(origin, number, cells, len(names))
        records.append((f"line {number}", dict(zip(names, cells)) if "".join(cells).strip() else NO_FIELDS))
    return Table(origin, names, records, has_header)


def check_cells(origin: Path | str, number: int, cells: Sequence[str], columns: int) -> None:
    """Refuse a row with more cells than columns: an unquoted separator would truncate its text silently."""
    if len(cells) > columns:
        raise DataError(
            f"{origin}: line {number} has {len(cells)} columns, but the first has {columns}; put quotes around texts "
            f"that hold the separator."
        )


def _from_datasets(path: str, config: str | None, split: str, limit: int | None = None) -> Table:
    """Return the rows of a data set, class indices as class names."""
    data = load_datasets(path, config, split)
    classes = class_names(data)

    def named(row: Row) -> Row:
        return {name: class_name(classes[name], value) if name in classes else value for name, value in row.items()}

    chosen = islice(dataset_rows(data, path), limit)
    rows = [(f"record {number}", named(row)) for number, row in enumerate(chosen, start=1)]
    return Table(path, list(data.features), rows)


def json_rows(path: Path, limit: int | None = None) -> list[dict[str, Any]]:
    """Return the objects of (the first lines of) a file of JSON lines; a blank line is an empty object."""
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(read_lines(path)[:limit], start=1):
        if not line.strip():
            rows.append(NO_FIELDS)
            continue
        rows.append(json_object(line, path, number))
    return rows


def split_rows(path: Path, suffix: str) -> list[tuple[int, list[str]]]:
    """Return (line number, cells) of each row; only CSV has quotes."""
    if suffix == ".tsv":
        return [(number, line.split("\t")) for number, line in enumerate(read_lines(path), 1)]
    text = read_text(path)
    rows: list[tuple[int, list[str]]] = []
    try:
        rows.extend(_csv_rows(text, ","))
    except csv.Error as error:
        if (other := _with_other_separator(text)) is not None:
            return other
        line = rows[-1][0] + 1 if rows else 1
        raise DataError(f"{path}: line {line} is not CSV ({error}); fix its quotes.") from None
    if any(len(row) > 1 for _, row in rows[:1]):
        return rows
    return _with_other_separator(text) or rows


def _csv_rows(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (number of its last line, cells) for each row of CSV text."""
    csv.field_size_limit(WIDEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    for row in reader:
        yield reader.line_num, row


def _with_other_separator(text: str) -> list[tuple[int, list[str]]] | None:
    """Return the rows of a CSV separated by semicolons or tabs, as spreadsheets may write it; None if it is not.

    All rows must have the same number of cells: a text may contain semicolons.
    """
    for separator in OTHER_SEPARATORS:
        try:
            rows = list(_csv_rows(text, separator))
        except csv.Error:
            continue
        lengths = {len(row) for _, row in rows if row}
        if len(lengths) == 1 and lengths != {1}:
            return rows
    return None


def find_column(path: Path, header: Sequence[str], column: str | int) -> int:
    """Return the number of a column given by name or number."""
    if isinstance(column, int):
        return column
    names = [cell.strip().lower() for cell in header]
    Table(str(path), list(header), []).check_once(column)
    if column.lower() not in names:
        raise DataError(f'{path}: there is no column "{column}" in its header ({", ".join(header)}).')
    return names.index(column.lower())
