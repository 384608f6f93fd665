"""Tables of texts: the texts of a file's rows, and the same table with columns of predictions."""

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
"""Names of the text columns in the output of a table without a header."""


@dataclass(frozen=True)
class TextTable:
    """The rows of a table in their order, and the texts of each; those of a blank row are blank."""

    names: list[str]
    rows: list[Row]
    texts: list[tuple[str, ...]]
    where: list[str]
    """Origin of each row, for error messages."""

    @classmethod
    def of(cls, table: Table) -> "TextTable":
        """Return a table whose texts are read elsewhere."""
        where = [f"{table.origin}: {where}" for where, _ in table.rows]
        return cls(table.names, [row for _, row in table.rows], [], where)

    def new_name(self, name: str) -> str:
        """Return the name of an added column, with a prefix where the table has a column of that name."""
        known = {each.strip().lower() for each in self.names}
        return f"predicted_{name}" if name.lower() in known else name

    def cells(self, names: Sequence[str], added: Iterable[Sequence[str]]) -> list[list[str]]:
        """Return the header and all rows as text cells, followed by the added columns."""
        cells = [[_cell(row.get(name)) for name in self.names] for row in self.rows]
        header = [*self.names, *map(self.new_name, names)]
        return [header, *([*row, *more] for row, more in zip(cells, added, strict=True))]

    def records(self, added: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return all rows with the added values, by column name."""
        return [
            {**row, **{self.new_name(name): value for name, value in more.items()}}
            for row, more in zip(self.rows, added, strict=True)
        ]


def _cell(value: Any) -> str:
    """Return a value as a text cell; lists, objects and booleans as JSON."""
    if isinstance(value, list | dict | bool):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def read_text_table(
    path: str,
    columns: Sequence[str | int],
    count: int,
    defaults: Usual = NOTHING,
    progress: Progress = SILENT,
) -> TextTable:
    """Return the table of a .csv, .tsv, .jsonl or .json file (.gz too); its text columns, which are reported, are
    `columns`, else those of the training set (`defaults`) if the file has them, else guessed."""
    table = read_rows(path, None, "train", lambda row: _is_header(row, columns, defaults))
    return with_texts(table, _text_columns(table, columns, count, defaults), progress)


def with_texts(table: Table, texts: Sequence[str], progress: Progress = SILENT) -> TextTable:
    """Return a table with its text columns, which are reported."""
    path, shown = table.origin, " and ".join(f'"{name}"' for name in texts)
    progress.info(f"{path}: the text is in column {shown}{'' if table.has_header else ' (counted from 0)'}.")
    rows_of_texts = [texts_in(row, texts, f"{path}: {where}") for where, row in table.rows]
    names = table.names if table.has_header else _made_names(table, texts)
    rows = [row if table.has_header else dict(zip(names, row.values())) for _, row in table.rows]
    return TextTable(names, rows, rows_of_texts, [f"{path}: {where}" for where, _ in table.rows])


def _made_names(table: Table, texts: Sequence[str]) -> list[str]:
    """Return names for a table without a header: `text`, and others by their numbers."""
    text_names = dict(zip(texts, NO_HEADER[len(texts)]))
    return [text_names.get(name, f"column_{name}") for name in table.names]


def _is_header(row: Sequence[str], columns: Sequence[str | int], defaults: Usual) -> bool:
    has_name = any(isinstance(name, str) for name in columns)
    return has_name or names_texts(row, defaults) or names_columns(row, ANY_TEXT)


def _text_columns(table: Table, columns: Sequence[str | int], count: int, defaults: Usual) -> tuple[str, ...]:
    """Return the `count` text columns."""
    if not table.names:
        raise DataError(f"{table.origin}: there are no rows in it.")
    trained = text_columns(defaults)
    if not columns and len(trained) == count and present(table, trained):
        columns = trained
    texts = tuple(table.column(name) for name in columns) or known_texts(table.names, count)
    if texts is not None and len(set(texts)) < len(texts) != count:
        raise named_twice(table, texts[0])
    if texts is None and not table.has_header and len(table.names) == count:
        texts = tuple(table.names)
    if texts is None and count == 1 and (column := text_by_contents(table, table.names)) is not None:
        texts = (column,)
    if texts is None or len(texts) != count:
        what = "the text" if count == 1 else "the two texts"
        raise DataError(f"{table.origin}: no column ({shown(table)}) is known to hold {what}; give --text-column.")
    table.check_once(*texts)
    return texts
