"""Labeled texts from tables and the miniature world; undeclared columns are detected and reported."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from regard import miniature
from regard.data.settings.examples import ClassSource, LabelSource
from regard.data.sources.cells import Row, label_in, label_set_in, text_in
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
"""The columns of a training set, by the names of the settings."""
NOTHING: Usual = {}

LARGEST = 1e30
"""Maximum magnitude of a number: the square of a larger one overflows float32."""

WAY_OUT = "set --text-column (twice for pairs) and --label-column (text_column, second_column, label_column)"


class LabeledRow(NamedTuple):
    """A text or a pair of texts, and its label; an empty label means none.

    Where rows have lists of labels, `labels` are they, and `label` is that list as JSON.
    """

    texts: tuple[str, ...]
    label: str
    labels: tuple[str, ...] | None = None


class LabelColumns(NamedTuple):
    """The columns of the texts and of the label."""

    texts: tuple[str, ...]
    label: str | None

    def plain(self, has_header: bool) -> dict[str, str | int]:
        """Return them as settings: by name, or by number where there is no header."""
        columns = dict(zip(("text_column", "second_column"), self.texts)) | {"label_column": self.label}
        return {name: column if has_header else int(column) for name, column in columns.items() if column is not None}


def read_labeled(source: LabelSource, progress: Progress = SILENT, is_number: bool = False) -> list[LabeledRow]:
    """Return all examples of a source, in order; with `is_number`, labels must be numbers."""
    return read_labeled_with_columns(source, progress, is_number)[0]


def read_labeled_with_columns(
    source: LabelSource, progress: Progress = SILENT, is_number: bool = False, usual: Usual = NOTHING
) -> tuple[list[LabeledRow], dict[str, str | int]]:
    """Return all examples of a source and its columns; the training set's columns are tried first."""
    if source.path.startswith(MINIATURE):
        return make_labeled(source.path.removeprefix(MINIATURE), source.max_rows, progress, is_number), {}
    table = read_rows(source.path, source.config, source.split, lambda row: _is_header(row, source, is_number, usual))
    if not table.rows:
        raise DataError(f"{source.name}: there are no examples in it; name another file.")
    columns = find_columns(table, _with_defaults(source, table, usual), is_number)
    assert columns.label is not None, "training data has a label column"
    if source.text_column is None or source.label_column is None:
        _report(table, columns, progress)
    rows = table.rows[: source.max_rows]
    if len(rows) < len(table.rows):
        progress.info(f"{source.name}: the first {len(rows):,} of {len(table.rows):,} examples are used (max_rows).")
    separator = _separator(source, usual)
    examples = [_example(source, row, columns, f"{source.name}: {where}", separator) for where, row in rows]
    _check_one_kind(source, rows, examples)
    if is_number:
        for (where, _), each in zip(rows, examples, strict=True):
            if each.label and not is_numeric(each.label):
                raise DataError(
                    f'{source.name}: {where} has "{each.label[:40]}" under "{columns.label}", which is not a number; '
                    f"{WAY_OUT}."
                )
            if each.label and abs(float(each.label)) > LARGEST:
                raise DataError(
                    f'{source.name}: {where} has {each.label[:40]} under "{columns.label}", too large to learn from '
                    f"({LARGEST:g} at most); use other units, or fix it."
                )
    return examples, columns.plain(table.has_header) | ({"label_separator": separator} if separator else {})


def _separator(source: LabelSource, usual: Usual) -> str | None:
    """Return the separator of the labels in a cell: the source's own, or the training set's."""
    return (source.label_separator or usual.get("label_separator")) if isinstance(source, ClassSource) else None


def _example(source: LabelSource, row: Row, columns: LabelColumns, where: str, separator: str | None) -> LabeledRow:
    """Return the example of a row."""
    texts, name = texts_in(row, columns.texts, where), columns.label or ""
    if isinstance(source, ClassSource) and (labels := label_set_in(row, name, separator, where, WAY_OUT)) is not None:
        return LabeledRow(texts, label_list(labels), labels)
    return LabeledRow(texts, label_in(row, name, where, WAY_OUT))


def label_list(labels: Sequence[str]) -> str:
    """Return sorted labels as one line: a list as JSON has it."""
    return json.dumps(sorted(labels), ensure_ascii=False)


def _check_one_kind(source: LabelSource, rows: Sequence[tuple[str, Row]], examples: Sequence[LabeledRow]) -> None:
    """Refuse a source of which some rows have a list of labels, and others one label."""
    listed = next((where for (where, _), each in zip(rows, examples) if each.labels is not None), None)
    single = next(
        ((at, each.label) for (at, _), each in zip(rows, examples) if each.labels is None and each.label), None
    )
    if listed and single:
        raise DataError(
            f'{source.name}: {listed} has a list of labels, and {single[0]} the label "{single[1][:40]}"; give every '
            f"row a list, [] for no label."
        )


def _with_defaults(source: LabelSource, table: Table, defaults: Usual) -> LabelSource:
    """Return a source with undeclared columns set to the training set's, if the table has them."""
    texts = text_columns(defaults)
    columns: dict[str, str | int] = {}
    if source.text_column is None and present(table, texts):
        columns |= dict(zip(("text_column", "second_column"), texts))
    if source.label_column is None and present(table, [defaults.get("label_column")]):
        columns["label_column"] = defaults["label_column"]
    return source.model_copy(update=columns)


def text_columns(defaults: Usual) -> list[str | int]:
    """Return the text columns among those of a training set."""
    return [defaults[name] for name in ("text_column", "second_column") if name in defaults]


def texts_in(row: Row, columns: Sequence[str], where: str) -> tuple[str, ...]:
    """Return the texts of a row."""
    return tuple(text_in(row, name, where, WAY_OUT) for name in columns)


def _is_header(row: Sequence[str], source: LabelSource, is_number: bool, defaults: Usual) -> bool:
    """Return whether the first row is a header: a setting names a column, or the names are likely ones."""
    if names_texts(row, defaults):
        return True
    if any(isinstance(name, str) for name in (source.text_column, source.second_column, source.label_column)):
        return True
    return names_columns(row, ANY_TEXT, NUMBER_NAMES if is_number else LABEL_NAMES)


def names_texts(row: Sequence[str], defaults: Usual) -> bool:
    """Return whether a first row has the names of the training set's text columns."""
    names, known = text_columns(defaults), {cell.strip().lower() for cell in row}
    return bool(names) and all(isinstance(name, str) and name.lower() in known for name in names)


def find_columns(table: Table, source: LabelSource, is_number: bool = False) -> LabelColumns:
    """Return the columns named in the settings, and likely ones where none is named."""
    given = [name for name in (source.text_column, source.second_column) if name is not None]
    texts = tuple(table.column(name) for name in given) or known_texts(table.names)
    label = (
        table.column(source.label_column) if source.label_column is not None else known_label(table.names, is_number)
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
    if texts is None and label is not None and (column := text_by_contents(table, left)) is not None:
        texts = (column,)
    if label is None and texts is not None:
        label = label_by_contents(table, left, is_number)
    if texts is None or label is None:
        what = "text" if texts is None else "label"
        raise DataError(f"{table.origin}: no column ({shown(table)}) is known to hold the {what}; {WAY_OUT}.")
    if len({*texts, label}) <= len(texts):
        raise DataError(f'{table.origin}: column "{label}" is both text and label; {WAY_OUT}.')
    table.check_once(*texts, label)
    return LabelColumns(texts, label)


def named_twice(table: Table, name: str) -> DataError:
    """Return the error for a pair whose two texts are in one column."""
    return DataError(
        f'{table.origin}: the text column "{name}" is named twice; name it once, or two columns for pairs.'
    )


def _by_contents(table: Table) -> tuple[tuple[str, ...], str]:
    """Return (text, label) of two unnamed columns: the label has fewer distinct values."""
    first, second = (len({str(row.get(name)) for _, row in table.rows if row}) for name in table.names)
    if first == second:
        raise DataError(
            f"{table.origin}: either column could be the label, both have {first:,} distinct values; {WAY_OUT}."
        )
    text, label = table.names if first > second else reversed(table.names)
    return (text,), label


def _number_among_texts(table: Table) -> tuple[tuple[str, ...] | None, str | None]:
    """Return (one or two text columns, the only column of numbers) of a table without a header; or (None, None)."""
    cells = {name: [row[name] for _, row in table.rows if row.get(name)] for name in table.names}
    numbers = [name for name, values in cells.items() if all(map(is_numeric, values))]
    texts = tuple(name for name in table.names if name not in numbers)
    return (texts, numbers[0]) if len(numbers) == 1 and len(texts) in (1, 2) else (None, None)


def _report(table: Table, columns: LabelColumns, progress: Progress) -> None:
    texts = " and ".join(f'"{name}"' for name in columns.texts)
    header = "" if table.has_header else " (numbers from 0: the first row is read as an example, not as a header)"
    progress.info(f'{table.origin}: the text is in column {texts}, the label in "{columns.label}"{header}.')


def make_labeled(
    name: str, count: int | None, progress: Progress = SILENT, is_number: bool = False
) -> list[LabeledRow]:
    """Return generated examples of the miniature world: stories with their plots, or pairs with a score."""
    sets = {"likeness": _likeness} if is_number else _SETS
    address = miniature.place(name, tuple(sets))
    examples, size = sets[address.set](address.split, count)
    rows: list[LabeledRow] = []
    with progress.bar(f"make {name}", size) as bar:
        for example in examples:
            rows.append(example)
            bar.advance()
    return rows


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
