"""Terminal output: progress, tables, and JSON."""

import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from regard.escaping import one_line, printable

SEPARATORS = re.compile(r"[\t\r\n]+")
"""Characters that would split the cells and rows of a tab-separated table."""


def print_json(value: Any, indent: int | None = 2) -> None:
    """Print a value, dataclasses included, as JSON on standard output."""
    print_line(json.dumps(_plain(value), ensure_ascii=False, indent=indent))


def _plain(value: Any) -> Any:
    """Return a value in JSON's types; NaN and infinities become null."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float) else str(value)


def print_line(text: str = "") -> None:
    """Print a line on standard output, whatever its characters."""
    write(text + "\n")


def write(text: str) -> None:
    """Write text to standard output: unchanged in a pipe, control characters escaped in a terminal."""
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Print a table: aligned in a terminal, tab-separated in a pipe."""
    if not sys.stdout.isatty():
        for row in [header, *rows]:
            print_line("\t".join(SEPARATORS.sub(" ", each) for each in row))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, name in enumerate(header):
        table.add_column(cell(name), justify="right" if number in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(cell, row))
    Console(highlight=False).print(table)


Rows = Sequence[Sequence[str]]
Shown = str | tuple[Sequence[str], Rows] | tuple[Sequence[str], Rows, Sequence[int]]
"""A line, or a table: header, rows, and the columns that are aligned to the right."""


def use_it(operation: Any, path: object) -> str:
    """Return the line that suggests the command of a model's operation."""
    return f"Use it: regard {operation.name} {path} {operation.usage}"


def print_records(records: Sequence[Any]) -> None:
    """Print dataclasses of one kind as a table: a column for each field, fractions with four decimals."""
    rows = [
        [f"{each:.4f}" if isinstance(each, float) else str(each) for each in vars(row).values()] for row in records
    ]
    print_table(list(vars(records[0])) if records else (), rows, right=[0])


def print_styled(*parts: tuple[str, str]) -> None:
    """Print a line of texts with their styles."""
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    console.print(Text.assemble(*((printable(text), style) for text, style in parts)))


def cell(text: str) -> Text:
    """Return a cell of a terminal table: one line of plain text, without markup."""
    return Text(one_line(text))
