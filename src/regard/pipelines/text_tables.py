"""A table in, its texts, and the same table with more columns out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from regard.data.columns import ANY_TEXT, known_texts, names_columns, shown, text_by_contents
from regard.data.labelled import texts_in
from regard.data.tables import Row, Table, read_rows
from regard.errors import DataError

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
        return f"predicted_{name}" if name in self.names else name

    def cells(self, names: Sequence[str], added: Iterable[Sequence[str]]) -> list[list[str]]:
        """Return the header and all rows as cells of text, with more columns behind."""
        own = [["" if row.get(name) is None else str(row[name]) for name in self.names] for row in self.rows]
        header = [*self.names, *map(self.new_name, names)]
        return [header, *([*row, *more] for row, more in zip(own, added, strict=True))]

    def records(self, added: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return all rows with what is added, by name."""
        return [
            {**row, **{self.new_name(name): value for name, value in more.items()}}
            for row, more in zip(self.rows, added, strict=True)
        ]


def read_text_table(path: str, columns: Sequence[str | int], count: int) -> TextTable:
    """Return a .csv, .tsv or .jsonl file (.gz too); `columns` name its texts if they cannot be guessed."""
    table = read_rows(path, None, "train", lambda row: _is_header(row, columns))
    texts = _text_columns(table, columns, count)
    found = [texts_in(row, texts, f"{path}: {where}") for where, row in table.rows]
    names = table.names if table.has_header else NO_HEADER[count]
    rows = [row if table.has_header else dict(zip(names, row.values())) for _, row in table.rows]
    return TextTable(names, rows, found, [f"{path}: {where}" for where, _ in table.rows])


def _is_header(row: Sequence[str], columns: Sequence[str | int]) -> bool:
    return any(isinstance(name, str) for name in columns) or names_columns(row, ANY_TEXT)


def _text_columns(table: Table, columns: Sequence[str | int], count: int) -> tuple[str, ...]:
    """Return the columns that hold the texts, as many as are wanted."""
    texts = tuple(table.column(name) for name in columns) or known_texts(table.names, count)
    if texts is None and not table.has_header and len(table.names) == count:
        texts = tuple(table.names)
    if texts is None and count == 1 and (found := text_by_contents(table, table.names)) is not None:
        texts = (found,)
    if texts is None or len(texts) != count:
        what = "the text" if count == 1 else "the two texts"
        raise DataError(f"{table.origin}: no column ({shown(table)}) is known to hold {what}; say --text-column.")
    return texts
