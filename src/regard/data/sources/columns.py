"""Which column of a table is which, from its name and from what it holds."""

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

BESIDES = {"id", "ids", "idx", "index", "uid", "uuid", "date", "time", "length", "count", "lang", "language", "url"}
"""Words in the names of columns that say something about an example, but are no part of it."""

MOST_LABELS = 100
FEWEST_ROWS = 8
"""Fewer rows say nothing about what a column holds."""


def words(name: str) -> list[str]:
    """Return the words that a name is made of: `reviewText`, `review_text` and `Review Text` have two."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+", name)]


def named(names: Iterable[str], likely: Sequence[str]) -> str | None:
    """Return the column with the likeliest name, or the only one with a likely word in its name."""
    names = list(names)
    known = {name.strip().lower(): name for name in names}
    found = next((known[name] for name in likely if name in known), None)
    if found is not None:
        return found
    partly = [name for name in names if set(likely) & set(words(name)) and not BESIDES & set(words(name))]
    return partly[0] if len(partly) == 1 else None


def known_texts(names: Iterable[str], count: int | None = None) -> tuple[str, ...] | None:
    """Return the columns that hold texts by their names: so many, or two rather than one."""
    names = list(names)
    known = {name.strip().lower(): name for name in names}
    for pair in PAIR_NAMES:
        if set(pair) <= set(known) and count != 1:
            return known[pair[0]], known[pair[1]]
    found = None if count == 2 else named(names, TEXT_NAMES)
    return None if found is None else (found,)


def known_label(names: Iterable[str], is_number: bool = False) -> str | None:
    """Return the column that holds labels, or numbers, by its name."""
    return named(names, NUMBER_NAMES if is_number else LABEL_NAMES)


def present(table: Table, columns: Sequence[str | int | None]) -> bool:
    """Tell whether a table has all the columns that another one had: by their names, or by numbers without names."""
    known = {name.strip().lower() for name in table.names}

    def has(column: str | int | None) -> bool:
        if isinstance(column, int):
            return not table.has_header and column < len(table.names)
        if column is None or not table.has_header:
            return False
        return column.lower() in known or column.lower().partition(".")[0] in known  # a field inside another

    return bool(columns) and all(map(has, columns))


def names_columns(row: Sequence[str], *parts: Sequence[str]) -> bool:
    """Tell whether a first row names columns: each part by a likely name, or one of them if all cells could be names.

    A name has a few words, is no sentence and no number, and does not come twice.
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
    """Return the only column that holds texts of several words, most of them different."""
    found = []
    for name, cells in _cells(table, among).items():
        several = sum(len(cell.split()) > 2 for cell in cells)
        if several * 2 > len(cells) >= FEWEST_ROWS and len(set(cells)) * 2 > len(cells):
            found.append(name)
    return found[0] if len(found) == 1 else None


def label_by_contents(table: Table, among: Sequence[str], wants_number: bool) -> str | None:
    """Return the only column whose values come again and again; or the only one of numbers."""
    found = []
    for name, cells in _cells(table, among).items():
        if len(cells) < FEWEST_ROWS or BESIDES & set(words(name)):
            continue
        kinds = len(set(cells))
        is_label = 2 <= kinds <= min(MOST_LABELS, len(cells) // 4)
        if all(map(is_numeric, cells)) and kinds > 1 if wants_number else is_label:
            found.append(name)
    return found[0] if len(found) == 1 else None


def is_numeric(text: str) -> bool:
    """Tell whether a text is a number, and no infinite one."""
    return parse_number(text) is not None


def shown(table: Table) -> str:
    """Return the names of the columns; their first cells too, where no header names them."""
    if table.has_header or not table.rows:
        return ", ".join(table.names)
    row = table.rows[0][1]
    return ", ".join(f'{name} with "{_short(row.get(name, ""))}"' for name in table.names)


def _short(text: str) -> str:
    return text if len(text) <= 20 else f"{text[:19]}…"


def _cells(table: Table, among: Sequence[str]) -> Mapping[str, list[str]]:
    """Return what columns hold, without empty cells; a column with other things than texts and numbers is none."""
    found: dict[str, list[str]] = {}
    for name in among:
        values: list[Any] = [row.get(name) for _, row in table.rows if row]
        if all(value is None or isinstance(value, str | int | float) for value in values):
            found[name] = [cell for value in values if value is not None and (cell := str(value).strip())]
    return found
