"""A table in, its texts, and the same table with more columns out."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from regard.data.sources.cells import Row
from regard.data.sources.columns import ANY_TEXT, known_texts, names_columns, present, shown, text_by_contents
from regard.data.sources.labeled import NOTHING, Usual, named_twice, names_texts, text_columns, texts_in
from regard.data.sources.tables import Table, read_rows
from regard.errors import DataError
from regard.progress import SILENT, Progress

NO_HEADER = {1: ["text"], 2: ["text_a", "text_b"]}
"""What the columns of a table without names are called in the answer."""


@dataclass(frozen=True)
class TextTable:
    """The rows of a table in their order, and the texts of each; a blank row has blank ones."""

    names: list[str]
    rows: list[Row]
    texts: list[tuple[str, ...]]
    where: list[str]
    """Where each row stands, for messages."""

    def new_name(self, name: str) -> str:
        """Return the name of a column that is added: a table may have one of that name itself."""
        known = {each.strip().lower() for each in self.names}
        return f"predicted_{name}" if name.lower() in known else name

    def cells(self, names: Sequence[str], added: Iterable[Sequence[str]]) -> list[list[str]]:
        """Return the header and all rows as cells of text, with more columns behind."""
        own = [[_cell(row.get(name)) for name in self.names] for row in self.rows]
        header = [*self.names, *map(self.new_name, names)]
        return [header, *([*row, *more] for row, more in zip(own, added, strict=True))]

    def records(self, added: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return all rows with what is added, by name."""
        return [
            {**row, **{self.new_name(name): value for name, value in more.items()}}
            for row, more in zip(self.rows, added, strict=True)
        ]


def _cell(value: Any) -> str:
    """Return a value as a cell of text; what JSON holds inside another as JSON."""
    if isinstance(value, list | dict | bool):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def read_text_table(
    path: str,
    columns: Sequence[str | int],
    count: int,
    usual: Usual = NOTHING,
    progress: Progress = SILENT,
) -> TextTable:
    """Return a .csv, .tsv, .jsonl or .json file (.gz too); `columns` name its texts, else they are those of the
    training set (`usual`) if it has them, else they are guessed; which they are is said."""
    table = read_rows(path, None, "train", lambda row: _is_header(row, columns, usual))
    return with_texts(table, _text_columns(table, columns, count, usual), progress)


def with_texts(table: Table, texts: Sequence[str], progress: Progress = SILENT) -> TextTable:
    """Return a table whose texts are in these columns, which is said."""
    path, shown = table.origin, " and ".join(f'"{name}"' for name in texts)
    progress.say(f"{path}: the text is in column {shown}{'' if table.has_header else ' (counted from 0)'}.")
    found = [texts_in(row, texts, f"{path}: {where}") for where, row in table.rows]
    names = table.names if table.has_header else _made_names(table, texts)
    rows = [row if table.has_header else dict(zip(names, row.values())) for _, row in table.rows]
    return TextTable(names, rows, found, [f"{path}: {where}" for where, _ in table.rows])


def _made_names(table: Table, texts: Sequence[str]) -> list[str]:
    """Return names for columns that have none: what is read is called text, and others by their numbers."""
    called = dict(zip(texts, NO_HEADER[len(texts)]))
    return [called.get(name, f"column_{name}") for name in table.names]


def _is_header(row: Sequence[str], columns: Sequence[str | int], usual: Usual) -> bool:
    has_name = any(isinstance(name, str) for name in columns)
    return has_name or names_texts(row, usual) or names_columns(row, ANY_TEXT)


def _text_columns(table: Table, columns: Sequence[str | int], count: int, usual: Usual) -> tuple[str, ...]:
    """Return the columns that hold the texts, as many as are wanted."""
    if not table.names:
        raise DataError(f"{table.origin}: there are no rows in it.")
    learned = text_columns(usual)
    if not columns and len(learned) == count and present(table, learned):
        columns = learned
    texts = tuple(table.column(name) for name in columns) or known_texts(table.names, count)
    if texts is not None and len(set(texts)) < len(texts) != count:
        raise named_twice(table, texts[0])
    if texts is None and not table.has_header and len(table.names) == count:
        texts = tuple(table.names)
    if texts is None and count == 1 and (found := text_by_contents(table, table.names)) is not None:
        texts = (found,)
    if texts is None or len(texts) != count:
        what = "the text" if count == 1 else "the two texts"
        raise DataError(f"{table.origin}: no column ({shown(table)}) is known to hold {what}; say --text-column.")
    table.check_once(*texts)
    return texts
