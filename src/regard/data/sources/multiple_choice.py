"""Contexts with several continuations, one of them right, out of tables and the miniature world."""

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
LETTERS = "abcdefghij"
"""What columns of choices are called where their names are letters alone."""

WAY_OUT = "name the columns with data.train.context_column=NAME, choices_column or choice_columns, and label_column"


class MultipleChoiceRow(NamedTuple):
    """A context, ways to go on, and the number (from 0) of the right one; -1 where it is not known."""

    context: str
    choices: tuple[str, ...]
    label: int


class ChoiceColumns(NamedTuple):
    """Where the context is, where the choices are (one field of all, or a column each), and where the answer."""

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
        """Return them in words."""
        choices = ", ".join(f'"{name}"' for name in self.choices)
        answer = "" if self.label is None else f', the answer in "{self.label}"'
        return f'the context is in column "{self.context}", the choices in {choices}{answer}'


def read_choices(
    place: ChoiceSource, progress: Progress = SILENT, has_labels: bool = True
) -> list[MultipleChoiceRow]:
    """Return all examples of a place, in order; without labels where none are needed."""
    return read_choices_with_columns(place, progress, has_labels)[0]


def read_choices_with_columns(
    place: ChoiceSource, progress: Progress = SILENT, has_labels: bool = True, usual: Usual = NOTHING
) -> tuple[list[MultipleChoiceRow], dict[str, Any]]:
    """Return all examples of a place, and the columns they are in; `usual` are those to look for first."""
    if place.path.startswith(MINIATURE):
        return make_choices(place.path.removeprefix(MINIATURE), place.max_rows, progress), {}
    table = read_rows(place.path, place.config, place.split, lambda row: True)
    if not table.rows:
        raise DataError(f"{place.name}: there are no examples in it; name another file.")
    columns = find_columns(table, with_usual(place, table, usual), has_labels)
    progress.say(f"{table.origin}: {columns.shown()}.")
    rows = [(f"{place.name}: {where}", row) for where, row in table.rows[: place.max_rows] if row]
    if not rows:
        raise DataError(f"{place.name}: there are no examples in it; name another file.")
    found = [_read(row, columns, where) for where, row in rows]
    numbered = _numbered(found, [where for where, _ in rows]) if has_labels else [each for each, _ in found]
    return numbered, columns.plain()


def choices_in(
    table: Table, place: ChoiceSource, usual: Usual = NOTHING, progress: Progress = SILENT
) -> list[MultipleChoiceRow | None]:
    """Return the example of each row of a table, without its answer; a blank row has none."""
    columns = find_columns(table, with_usual(place, table, usual), has_labels=False)
    progress.say(f"{table.origin}: {columns.shown()}.")
    return [_read(row, columns, f"{table.origin}: {where}")[0] if row else None for where, row in table.rows]


def with_usual(place: ChoiceSource, table: Table, usual: Usual) -> ChoiceSource:
    """Return a place that says which columns it means, where it says nothing and the table has the usual ones."""
    found: dict[str, Any] = {}
    for name in ("context_column", "label_column"):
        if getattr(place, name) is None and present(table, [usual.get(name)]):
            found[name] = usual[name]
    if place.choices_column is None and not place.choice_columns:
        if present(table, [usual.get("choices_column")]):
            found["choices_column"] = usual["choices_column"]
        elif present(table, usual.get("choice_columns", ())):
            found["choice_columns"] = tuple(usual["choice_columns"])
    return place.model_copy(update=found)


def find_columns(table: Table, place: ChoiceSource, has_labels: bool = True) -> ChoiceColumns:
    """Return the columns a user named, and the likely ones where none was named."""

    def column(given: str | int | None, likely: Sequence[str], what: str) -> str:
        if given is not None:
            return table.column(given)
        found = named(table.names, likely)
        if found is None:
            raise DataError(
                f"{table.origin}: no column ({', '.join(table.names)}) is known to hold the {what}; {WAY_OUT}."
            )
        return found

    context = column(place.context_column, CONTEXT_NAMES, "context")
    label = column(place.label_column, LABEL_NAMES, "answer") if has_labels else None
    several = tuple(table.column(name) for name in place.choice_columns)
    if not several and place.choices_column is None:
        several = tuple(name for name in table.names if ONE_CHOICE.fullmatch(name.strip()) and name != label)
        letters = [name for name in table.names if name.strip().lower() in tuple(LETTERS)]
        if not several and [name.strip().lower() for name in letters] == list(LETTERS[: len(letters)]):
            several = tuple(letters)
    is_list = len(several) < 2
    choices = (column(place.choices_column, CHOICES_NAMES, "choices"),) if is_list else several
    table.check_once(context, label, *choices)
    return ChoiceColumns(context, choices, is_list, label)


def _read(row: Row, columns: ChoiceColumns, where: str) -> tuple[MultipleChoiceRow, Any]:
    """Return an example without its answer, and what the row says about that."""
    context = text_in(row, columns.context, where, WAY_OUT)
    names: Sequence[str] = ()
    if columns.is_list:
        choices, names = _listed(row, columns.choices[0], where)
    else:
        choices = tuple(text_in(row, name, where, WAY_OUT) for name in columns.choices)
        while choices and not choices[-1]:  # a table has as many columns as its longest row has choices
            choices = choices[:-1]
    if len(choices) < 2:
        raise DataError(f"{where} has {len(choices)} choices; there must be two at least.")
    if not all(choices):
        raise DataError(f"{where}: choice {choices.index('')} (counted from 0) is empty; give it words.")
    return MultipleChoiceRow(context, choices, -1), None if columns.label is None else _answer(
        row, columns.label, choices, names, where
    )


def _answer(row: Row, name: str, choices: Sequence[str], names: Sequence[str], where: str) -> str | int:
    """Return the number that a row says the right choice has; what is no number of a choice as it stands."""
    value = value_of(row, name)
    said = label_in(row, name, where, WAY_OUT)
    if not isinstance(value, str):
        number = integer_in(value)
        return said if number is None else number
    if said in names:
        return list(names).index(said)
    if said in choices:
        return choices.index(said)
    if re.fullmatch(r"[A-Za-z]", said):
        return ord(said.lower()) - ord("a")
    number = integer_in(said)
    return said if number is None else number


def _listed(row: Row, name: str, where: str) -> tuple[tuple[str, ...], Sequence[str]]:
    """Return the choices under a name, and what they are called where that is said beside them."""
    found = value_of(row, name)
    names: Any = ()
    if isinstance(found, Mapping) and "text" in found:  # {"text": [...], "label": ["A", "B", ...]}
        found, names = found["text"], found.get("label") or ()
    if isinstance(found, str):
        found = parse_list(found) if found.strip().startswith("[") else None
    if not isinstance(found, list | tuple) or not all(isinstance(each, str) for each in found):
        raise DataError(f'{where} has no list of texts under "{name}"; {WAY_OUT}.')
    names = [str(each).strip() for each in names] if isinstance(names, list | tuple) else []
    return tuple(whole(each, where, name).strip() for each in found), names


def _numbered(found: Sequence[tuple[MultipleChoiceRow, Any]], places: Sequence[str]) -> list[MultipleChoiceRow]:
    """Return examples with their answers; where one is the number of choices, all are counted from 1."""
    numbers = [said for _, said in found if isinstance(said, int)]
    is_past = any(said == len(each.choices) for each, said in found if isinstance(said, int))
    first = 1 if is_past and 0 not in numbers else 0
    examples = []
    for (each, said), where in zip(found, places, strict=True):
        number = said - first if isinstance(said, int) else -1
        if not 0 <= number < len(each.choices):
            raise DataError(
                f'{where}: "{str(said)[:40]}" names none of its {len(each.choices)} choices; give a number, a '
                f"letter, or the choice itself."
            )
        examples.append(each._replace(label=number))
    return examples


def make_choices(split: str, count: int | None, progress: Progress = SILENT) -> list[MultipleChoiceRow]:
    """Return probes of the miniature world, made on the spot; the right one is first or second by a hash."""
    found: list[MultipleChoiceRow] = []
    split = miniature.place(split, ("probes",)).split
    count = count or miniature.SPLITS[split].size
    with progress.bar(f"make {split}", count) as bar:
        for probe in miniature.story_probes(split, count):
            found.append(MultipleChoiceRow(probe.prefix, probe.choices, probe.label))
            bar.advance()
    return found
