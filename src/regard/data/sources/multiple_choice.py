"""Multiple-choice examples (a context, its choices, the right one) from tables and the miniature world."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from regard import miniature
from regard.data.settings.examples import ChoiceSource
from regard.data.sources.cells import Row, integer_in, label_in, parse_list, text_in, value_of, whole
from regard.data.sources.columns import named, present
from regard.data.sources.labeled import MINIATURE, NOTHING, Usual
from regard.data.sources.tables import Table, read_rows
from regard.errors import DataError
from regard.progress import SILENT, Progress

CONTEXT_NAMES = (
    *("context", "question", "ctx", "prefix", "premise", "text", "sentence", "startphrase"),
    *("story", "passage", "situation", "prompt"),
)
CHOICES_NAMES = ("choices", "endings", "options", "alternatives", "candidates")
LABEL_NAMES = ("label", "answer", "answerkey", "correct", "gold")
ONE_CHOICE = re.compile(r"(choice|ending|opt|option|alternative|candidate|answer)[_ -]?(\d+|[a-z])", re.IGNORECASE)
CHOICE_NAMES = "abcdefghij"
"""Names of choice columns that are a single character."""

WAY_OUT = "name the columns with data.train.context_column=NAME, choices_column or choice_columns, and label_column"


class MultipleChoiceRow(NamedTuple):
    """A context, its choices, and the index (from 0) of the right one; -1 where it is unknown."""

    context: str
    choices: tuple[str, ...]
    label: int


class ChoiceColumns(NamedTuple):
    """The columns of the context, of the choices (one list, or a column each) and of the answer."""

    context: str
    choices: tuple[str, ...]
    is_list: bool
    label: str | None

    def plain(self) -> dict[str, Any]:
        """Return them as settings."""
        choices = {"choices_column": self.choices[0]} if self.is_list else {"choice_columns": list(self.choices)}
        answer = {} if self.label is None else {"label_column": self.label}
        return {"context_column": self.context, **choices, **answer}

    def shown(self) -> str:
        """Return them as a phrase."""
        choices = ", ".join(f'"{name}"' for name in self.choices)
        answer = "" if self.label is None else f', the answer in "{self.label}"'
        return f'the context is in column "{self.context}", the choices in {choices}{answer}'


def read_choices(
    source: ChoiceSource, progress: Progress = SILENT, has_labels: bool = True
) -> list[MultipleChoiceRow]:
    """Return all examples of a source, in order; without labels if `has_labels` is False."""
    return read_choices_with_columns(source, progress, has_labels)[0]


def read_choices_with_columns(
    source: ChoiceSource, progress: Progress = SILENT, has_labels: bool = True, usual: Usual = NOTHING
) -> tuple[list[MultipleChoiceRow], dict[str, Any]]:
    """Return all examples of a source and its columns; the training set's columns are tried first."""
    if source.path.startswith(MINIATURE):
        return make_choices(source.path.removeprefix(MINIATURE), source.max_rows, progress), {}
    table = read_rows(source.path, source.config, source.split, lambda row: True)
    if not table.rows:
        raise DataError(f"{source.name}: there are no examples in it; name another file.")
    columns = find_columns(table, with_defaults(source, table, usual), has_labels)
    progress.info(f"{table.origin}: {columns.shown()}.")
    rows = [(f"{source.name}: {where}", row) for where, row in table.rows[: source.max_rows] if row]
    if not rows:
        raise DataError(f"{source.name}: there are no examples in it; name another file.")
    answered = [_read(row, columns, where) for where, row in rows]
    examples = _numbered(answered, [where for where, _ in rows]) if has_labels else [each for each, _ in answered]
    return examples, columns.plain()


def choices_in(
    table: Table, source: ChoiceSource, defaults: Usual = NOTHING, progress: Progress = SILENT
) -> list[MultipleChoiceRow | None]:
    """Return the example of each row of a table, without its answer; None for a blank row."""
    columns = find_columns(table, with_defaults(source, table, defaults), has_labels=False)
    progress.info(f"{table.origin}: {columns.shown()}.")
    return [_read(row, columns, f"{table.origin}: {where}")[0] if row else None for where, row in table.rows]


def with_defaults(source: ChoiceSource, table: Table, defaults: Usual) -> ChoiceSource:
    """Return a source with undeclared columns set to the training set's, if the table has them."""
    columns: dict[str, Any] = {}
    for name in ("context_column", "label_column"):
        if getattr(source, name) is None and present(table, [defaults.get(name)]):
            columns[name] = defaults[name]
    if source.choices_column is None and not source.choice_columns:
        if present(table, [defaults.get("choices_column")]):
            columns["choices_column"] = defaults["choices_column"]
        elif present(table, defaults.get("choice_columns", ())):
            columns["choice_columns"] = tuple(defaults["choice_columns"])
    return source.model_copy(update=columns)


def find_columns(table: Table, source: ChoiceSource, has_labels: bool = True) -> ChoiceColumns:
    """Return the columns named in the settings, and likely ones where none is named."""

    def column(given: str | int | None, likely: Sequence[str], what: str) -> str:
        if given is not None:
            return table.column(given)
        name = named(table.names, likely)
        if name is None:
            raise DataError(
                f"{table.origin}: no column ({', '.join(table.names)}) is known to hold the {what}; {WAY_OUT}."
            )
        return name

    context = column(source.context_column, CONTEXT_NAMES, "context")
    label = column(source.label_column, LABEL_NAMES, "answer") if has_labels else None
    several = tuple(table.column(name) for name in source.choice_columns)
    if not several and source.choices_column is None:
        several = tuple(name for name in table.names if ONE_CHOICE.fullmatch(name.strip()) and name != label)
        single = [name for name in table.names if name.strip().lower() in tuple(CHOICE_NAMES)]
        if not several and [name.strip().lower() for name in single] == list(CHOICE_NAMES[: len(single)]):
            several = tuple(single)
    is_list = len(several) < 2
    choices = (column(source.choices_column, CHOICES_NAMES, "choices"),) if is_list else several
    table.check_once(context, label, *choices)
    return ChoiceColumns(context, choices, is_list, label)


def _read(row: Row, columns: ChoiceColumns, where: str) -> tuple[MultipleChoiceRow, Any]:
    """Return (an example without its answer, the row's answer: an index where it is one)."""
    context = text_in(row, columns.context, where, WAY_OUT)
    names: Sequence[str] = ()
    if columns.is_list:
        choices, names = _listed(row, columns.choices[0], where)
    else:
        choices = tuple(text_in(row, name, where, WAY_OUT) for name in columns.choices)
        while choices and not choices[-1]:  # a table has as many columns as its longest row has choices
            choices = choices[:-1]
    if len(choices) < 2:
        raise DataError(f"{where} has {len(choices)} choices; at least two are needed.")
    if not all(choices):
        raise DataError(f"{where}: choice {choices.index('')} (counted from 0) is empty; fill it in.")
    return MultipleChoiceRow(context, choices, -1), None if columns.label is None else _answer(
        row, columns.label, choices, names, where
    )


def _answer(row: Row, name: str, choices: Sequence[str], names: Sequence[str], where: str) -> str | int:
    """Return the index of a row's right choice; the raw answer where it names no choice."""
    value = value_of(row, name)
    answer = label_in(row, name, where, WAY_OUT)
    if not isinstance(value, str):
        number = integer_in(value)
        return answer if number is None else number
    if answer in names:
        return list(names).index(answer)
    if answer in choices:
        return choices.index(answer)
    if re.fullmatch(r"[A-Za-z]", answer):
        return ord(answer.lower()) - ord("a")
    number = integer_in(answer)
    return answer if number is None else number


def _listed(row: Row, name: str, where: str) -> tuple[tuple[str, ...], Sequence[str]]:
    """Return the choices under a name, and their labels where the field has them."""
    value = value_of(row, name)
    names: Any = ()
    if isinstance(value, Mapping) and "text" in value:  # {"text": [...], "label": ["A", "B", ...]}
        value, names = value["text"], value.get("label") or ()
    if isinstance(value, str):
        value = parse_list(value) if value.strip().startswith("[") else None
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise DataError(f'{where} has no list of texts under "{name}"; {WAY_OUT}.')
    names = [str(each).strip() for each in names] if isinstance(names, list | tuple) else []
    return tuple(whole(each, where, name).strip() for each in value), names


def _numbered(answered: Sequence[tuple[MultipleChoiceRow, Any]], locations: Sequence[str]) -> list[MultipleChoiceRow]:
    """Return examples with their labels; if an answer equals the number of choices, all are counted from 1."""
    numbers = [answer for _, answer in answered if isinstance(answer, int)]
    is_past = any(answer == len(each.choices) for each, answer in answered if isinstance(answer, int))
    first = 1 if is_past and 0 not in numbers else 0
    examples = []
    for (each, answer), where in zip(answered, locations, strict=True):
        number = answer - first if isinstance(answer, int) else -1
        if not 0 <= number < len(each.choices):
            raise DataError(
                f'{where}: "{str(answer)[:40]}" names none of its {len(each.choices)} choices; give its '
                f"number, A, B, …, or the choice itself."
            )
        examples.append(each._replace(label=number))
    return examples


def make_choices(split: str, count: int | None, progress: Progress = SILENT) -> list[MultipleChoiceRow]:
    """Return generated probes of the miniature world; a hash decides whether the right choice is first or second."""
    rows: list[MultipleChoiceRow] = []
    split = miniature.place(split, ("probes",)).split
    count = count or miniature.SPLITS[split].size
    with progress.bar(f"make {split}", count) as bar:
        for probe in miniature.story_probes(split, count):
            rows.append(MultipleChoiceRow(probe.prefix, probe.choices, probe.label))
            bar.advance()
    return rows
