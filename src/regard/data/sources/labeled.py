"""Texts with a label out of tables and the miniature world; which column is which is guessed, and said."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from regard import miniature
from regard.data.settings.examples import LabelSource
from regard.data.sources.cells import Row, label_in, text_in
from regard.data.sources.columns import (
    ANY_TEXT,
    LABEL_NAMES,
    NUMBER_NAMES,
    is_numeric,
    known_label,
    known_texts,
    label_by_contents,
    names_columns,
    present,
    shown,
    text_by_contents,
)
from regard.data.sources.tables import Table, read_rows
from regard.errors import DataError
from regard.progress import SILENT, Progress

MINIATURE = "miniature:"

Usual = Mapping[str, Any]
"""The columns of a training set, as settings call them."""
NOTHING: Usual = {}

LARGEST = 1e30
"""Numbers at most: the squares of larger ones are infinite in single precision."""

WAY_OUT = "say --text-column (twice for pairs) and --label-column (text_column, second_column, label_column)"


class LabeledRow(NamedTuple):
    """A text, or two, and the label that belongs to it; an empty label is none."""

    texts: tuple[str, ...]
    label: str


class LabelColumns(NamedTuple):
    """Which columns hold the texts, and which one the label."""

    texts: tuple[str, ...]
    label: str | None

    def plain(self, has_header: bool) -> dict[str, str | int]:
        """Return them as settings: by their names, or by numbers where no header names them."""
        found = dict(zip(("text_column", "second_column"), self.texts)) | {"label_column": self.label}
        return {name: column if has_header else int(column) for name, column in found.items() if column is not None}


def read_labeled(place: LabelSource, progress: Progress = SILENT, is_number: bool = False) -> list[LabeledRow]:
    """Return all examples of a place, in order; their labels may have to be numbers."""
    return read_labeled_with_columns(place, progress, is_number)[0]


def read_labeled_with_columns(
    place: LabelSource, progress: Progress = SILENT, is_number: bool = False, usual: Usual = NOTHING
) -> tuple[list[LabeledRow], dict[str, str | int]]:
    """Return all examples of a place, and the columns they are in; `usual` are those to look for first."""
    if place.path.startswith(MINIATURE):
        return make_labeled(place.path.removeprefix(MINIATURE), place.max_rows, progress, is_number), {}
    table = read_rows(place.path, place.config, place.split, lambda row: _is_header(row, place, is_number, usual))
    if not table.rows:
        raise DataError(f"{place.name}: there are no examples in it; name another file.")
    columns = find_columns(table, _with_usual(place, table, usual), is_number)
    assert columns.label is not None, "only what is to be labeled has none"
    if place.text_column is None or place.label_column is None:
        _say(table, columns, progress)
    rows = table.rows[: place.max_rows]
    if len(rows) < len(table.rows):
        progress.say(f"{place.name}: the first {len(rows):,} of {len(table.rows):,} examples are used (count).")
    found = [
        LabeledRow(
            texts_in(row, columns.texts, at := f"{place.name}: {where}"), label_in(row, columns.label, at, WAY_OUT)
        )
        for where, row in rows
    ]
    if is_number:
        for (where, _), each in zip(rows, found, strict=True):
            if each.label and not is_numeric(each.label):
                raise DataError(
                    f'{place.name}: {where} has "{each.label[:40]}" under "{columns.label}", which is no number; '
                    f"{WAY_OUT}."
                )
            if each.label and abs(float(each.label)) > LARGEST:
                raise DataError(
                    f'{place.name}: {where} has {each.label[:40]} under "{columns.label}", too large to learn from '
                    f"({LARGEST:g} at most); give other units, or mend it."
                )
    return found, columns.plain(table.has_header)


def _with_usual(place: LabelSource, table: Table, usual: Usual) -> LabelSource:
    """Return a place that says which columns it means, where it says nothing and the table has the usual ones."""
    texts = text_columns(usual)
    found: dict[str, str | int] = {}
    if place.text_column is None and present(table, texts):
        found |= dict(zip(("text_column", "second_column"), texts))
    if place.label_column is None and present(table, [usual.get("label_column")]):
        found["label_column"] = usual["label_column"]
    return place.model_copy(update=found)


def text_columns(usual: Usual) -> list[str | int]:
    """Return the columns of texts among those of a training set."""
    return [usual[name] for name in ("text_column", "second_column") if name in usual]


def texts_in(row: Row, columns: Sequence[str], where: str) -> tuple[str, ...]:
    """Return the texts of a row."""
    return tuple(text_in(row, name, where, WAY_OUT) for name in columns)


def _is_header(row: Sequence[str], place: LabelSource, is_number: bool, usual: Usual) -> bool:
    """Tell whether the first row of a table names its columns: a user calls one by name, or the names are known."""
    if names_texts(row, usual):
        return True
    if any(isinstance(name, str) for name in (place.text_column, place.second_column, place.label_column)):
        return True
    return names_columns(row, ANY_TEXT, NUMBER_NAMES if is_number else LABEL_NAMES)


def names_texts(row: Sequence[str], usual: Usual) -> bool:
    """Tell whether a first row has the names that the texts of a training set had."""
    names, known = text_columns(usual), {cell.strip().lower() for cell in row}
    return bool(names) and all(isinstance(name, str) and name.lower() in known for name in names)


def find_columns(table: Table, place: LabelSource, is_number: bool = False) -> LabelColumns:
    """Return the columns a user named, and the likely ones where none was named."""
    given = [name for name in (place.text_column, place.second_column) if name is not None]
    texts = tuple(table.column(name) for name in given) or known_texts(table.names)
    label = (
        table.column(place.label_column) if place.label_column is not None else known_label(table.names, is_number)
    )
    if texts is None and label is None and not table.has_header:
        if is_number:
            texts, label = _number_among_texts(table)
        elif len(table.names) == 2:
            texts, label = _by_contents(table)
    if texts is not None and len(set(texts)) < len(texts):
        raise named_twice(table, texts[0])
    left = [name for name in table.names if name not in (*(texts or ()), label)]
    if texts is None and label is not None and len(left) == 1:
        texts = (left[0],)
    if label is None and texts is not None and len(left) == 1:
        label = left[0]
    if texts is None and label is not None and (found := text_by_contents(table, left)) is not None:
        texts = (found,)
    if label is None and texts is not None:
        label = label_by_contents(table, left, is_number)
    if texts is None or label is None:
        what = "text" if texts is None else "label"
        raise DataError(f"{table.origin}: no column ({shown(table)}) is known to hold the {what}; {WAY_OUT}.")
    if len({*texts, label}) <= len(texts):
        raise DataError(f'{table.origin}: column "{label}" has two parts to play; {WAY_OUT}.')
    table.check_once(*texts, label)
    return LabelColumns(texts, label)


def named_twice(table: Table, name: str) -> DataError:
    """Return what to say where both texts of a pair are said to be in one column."""
    return DataError(
        f'{table.origin}: the text column "{name}" is named twice; name it once, or two columns for pairs.'
    )


def _by_contents(table: Table) -> tuple[tuple[str, ...], str]:
    """Return which of two columns without names repeats itself less, and which one more: text and label."""
    first, second = (len({str(row.get(name)) for _, row in table.rows if row}) for name in table.names)
    if first == second:
        raise DataError(f"{table.origin}: either column could be the label, both hold {first:,} values; {WAY_OUT}.")
    text, label = table.names if first > second else reversed(table.names)
    return (text,), label


def _number_among_texts(table: Table) -> tuple[tuple[str, ...] | None, str | None]:
    """Return one or two columns without names that hold texts, and the only one that holds numbers."""
    cells = {name: [row[name] for _, row in table.rows if row.get(name)] for name in table.names}
    numbers = [name for name, values in cells.items() if all(map(is_numeric, values))]
    texts = tuple(name for name in table.names if name not in numbers)
    return (texts, numbers[0]) if len(numbers) == 1 and len(texts) in (1, 2) else (None, None)


def _say(table: Table, columns: LabelColumns, progress: Progress) -> None:
    texts = " and ".join(f'"{name}"' for name in columns.texts)
    header = "" if table.has_header else " (numbers from 0: the first row is taken for an example, not for names)"
    progress.say(f'{table.origin}: the text is in column {texts}, the label in "{columns.label}"{header}.')


def make_labeled(
    name: str, count: int | None, progress: Progress = SILENT, is_number: bool = False
) -> list[LabeledRow]:
    """Return examples of the miniature world, made on the spot: stories with their plots, or pairs with a score."""
    sets = {"likeness": _likeness} if is_number else _SETS
    place = miniature.place(name, tuple(sets))
    examples, size = sets[place.set](place.split, count)
    found: list[LabeledRow] = []
    with progress.bar(f"make {name}", size) as bar:
        for example in examples:
            found.append(example)
            bar.advance()
    return found


def _plots(split: str, count: int | None) -> tuple[Iterator[LabeledRow], int]:
    stories = miniature.stories(split)
    count = count or miniature.SPLITS[split].size
    return (LabeledRow((" ".join(story.sentences),), story.plot) for story in islice(stories, count)), count


def _reviews(split: str, count: int | None) -> tuple[Iterator[LabeledRow], int]:
    reviews = miniature.reviews(split, count)
    return (LabeledRow((review.text,), review.label) for review in reviews), _size(split, count)


def _opinions(split: str, count: int | None) -> tuple[Iterator[LabeledRow], int]:
    opinions = miniature.opinions(split, count)
    return (LabeledRow((opinion.text,), opinion.label) for opinion in opinions), _size(split, count)


def _paraphrases(split: str, count: int | None) -> tuple[Iterator[LabeledRow], int]:
    pairs = miniature.paraphrases(split, count)
    labeled = (LabeledRow((pair.first, pair.second), "yes" if pair.is_same else "no") for pair in pairs)
    return labeled, _size(split, count)


def _likeness(split: str, count: int | None) -> tuple[Iterator[LabeledRow], int]:
    pairs = miniature.likeness(split, count)
    return (LabeledRow((pair.first, pair.second), f"{pair.score:g}") for pair in pairs), _size(split, count)


def _size(split: str, count: int | None) -> int:
    return count or miniature.EXAMPLE_SPLITS[split].size


_SETS: Final[dict[str, Callable[[str, int | None], tuple[Iterator[LabeledRow], int]]]] = {
    "plots": _plots,
    "reviews": _reviews,
    "paraphrases": _paraphrases,
    "opinions": _opinions,
}
