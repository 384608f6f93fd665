"""Column detection: text and label columns of a table, from their names and contents."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from regard.config.parsing import parse_number
from regard.data.sources.tables import Table

TEXT_NAMES = ("text", "sentence", "review", "content", "comment", "message", "document", "body", "tweet", "headline")
PAIR_NAMES = (
    ("text_a", "text_b"),
    ("text1", "text2"),
    ("sentence1", "sentence2"),
    ("sentence_a", "sentence_b"),
    ("premise", "hypothesis"),
    ("question1", "question2"),
    ("question", "sentence"),
)
ANY_TEXT = (*TEXT_NAMES, *(name for pair in PAIR_NAMES for name in pair))
LABEL_NAMES = (
    *("label", "class", "category", "gold_label", "labels", "sentiment", "topic", "target", "polarity", "intent"),
    *("emotion", "is_duplicate", "duplicate", "entailment", "judgment", "rating", "stars"),
)
NUMBER_NAMES = ("score", "similarity", "label", "rating", "stars", "target", "grade", "value", "number")

METADATA = {"id", "ids", "idx", "index", "uid", "uuid", "date", "time", "length", "count", "lang", "language", "url"}
"""Words in the names of metadata columns, which are neither text nor label."""

MOST_LABELS = 100
FEWEST_ROWS = 8
"""Minimum number of rows to detect a column by its contents."""


def words(name: str) -> list[str]:
    """Return the lowercase words of a name: `reviewText`, `review_text` and `Review Text` have two."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+", name)]


def named(names: Iterable[str], likely: Sequence[str]) -> str | None:
    """Return the column with the likeliest name, or the only one with a likely word in its name."""
    names = list(names)
    known = {name.strip().lower(): name for name in names}
    column = next((known[name] for name in likely if name in known), None)
    if column is not None:
        return column
    partly = [name for name in names if set(likely) & set(words(name)) and not METADATA & set(words(name))]
    return partly[0] if len(partly) == 1 else None


def known_texts(names: Iterable[str], count: int | None = None) -> tuple[str, ...] | None:
    """Return the text columns by name: `count` of them, or a pair rather than a single one."""
    names = list(names)
    known = {name.strip().lower(): name for name in names}
    for pair in PAIR_NAMES:
        if set(pair) <= set(known) and count != 1:
            return known[pair[0]], known[pair[1]]
    column = None if count == 2 else named(names, TEXT_NAMES)
    return None if column is None else (column,)


def known_label(names: Iterable[str], is_number: bool = False) -> str | None:
    """Return the column of labels, or of numbers, by name."""
    return named(names, NUMBER_NAMES if is_number else LABEL_NAMES)


def present(table: Table, columns: Sequence[str | int | None]) -> bool:
    """Return whether a table has all given columns: by name, or by number where it has no header."""
    known = {name.strip().lower() for name in table.names}

    def has(column: str | int | None) -> bool:
        if isinstance(column, int):
            return not table.has_header and column < len(table.names)
        if column is None or not table.has_header:
            return False
        return column.lower() in known or column.lower().partition(".")[0] in known  # a nested field

    return bool(columns) and all(map(has, columns))


def names_columns(row: Sequence[str], *parts: Sequence[str]) -> bool:
    """Return whether a first row is a header: all parts have a likely name, or one has and all cells may be names.

    A name has at most four words, is neither a sentence nor a number, and occurs once.
    """
    known = {cell.strip().lower() for cell in row}
    if all(known & set(likely) for likely in parts):
        return True
    if len(row) < 2 or all(named(row, likely) is None for likely in parts):
        return False
    cells = [cell.strip() for cell in row if cell.strip()]
    return len(cells) == len(set(cells)) and not any(
        is_numeric(cell) or len(cell.split()) > 4 or re.search(r"[.!?,;:](\s|$)", cell) for cell in cells
    )


def text_by_contents(table: Table, among: Sequence[str]) -> str | None:
    """Return the only column of texts with several words, most of them distinct; None if there is not exactly one."""
    columns = []
    for name, cells in _cells(table, among).items():
        several = sum(len(cell.split()) > 2 for cell in cells)
        if several * 2 > len(cells) >= FEWEST_ROWS and len(set(cells)) * 2 > len(cells):
            columns.append(name)
    return columns[0] if len(columns) == 1 else None


def label_by_contents(table: Table, among: Sequence[str], wants_number: bool) -> str | None:
    """Return the only column of few repeated values (or of numbers); None if there is not exactly one."""
    columns = []
    for name, cells in _cells(table, among).items():
        if len(cells) < FEWEST_ROWS or METADATA & set(words(name)):
            continue
        kinds = len(set(cells))
        is_label = 2 <= kinds <= min(MOST_LABELS, len(cells) // 4)
        if all(map(is_numeric, cells)) and kinds > 1 if wants_number else is_label:
            columns.append(name)
    return columns[0] if len(columns) == 1 else None


def is_numeric(text: str) -> bool:
    """Return whether a text is a finite number."""
    return parse_number(text) is not None


def shown(table: Table) -> str:
    """Return the names of the columns; without a header, their numbers and first cells."""
    if table.has_header or not table.rows:
        return ", ".join(table.names)
    row = table.rows[0][1]
    return ", ".join(f'{name} with "{_short(row.get(name, ""))}"' for name in table.names)


def _short(text: str) -> str:
    return text if len(text) <= 20 else f"{text[:19]}…"


def _cells(table: Table, among: Sequence[str]) -> Mapping[str, list[str]]:
    """Return the non-empty cells of each column that holds only texts and numbers."""
    columns: dict[str, list[str]] = {}
    for name in among:
        values: list[Any] = [row.get(name) for _, row in table.rows if row]
        if all(value is None or isinstance(value, str | int | float) for value in values):
            columns[name] = [cell for value in values if value is not None and (cell := str(value).strip())]
    return columns
