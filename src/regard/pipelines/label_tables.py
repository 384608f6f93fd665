"""A table in, the same table with labels, numbers, spans or answers out."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from regard.data.labelled import known_texts, texts_in
from regard.data.tables import Row, Table, read_rows
from regard.errors import DataError
from regard.pipelines.answerer import Answerer
from regard.pipelines.classifier import Classifier
from regard.pipelines.regressor import Regressor
from regard.pipelines.tagger import Tagger
from regard.progress import SILENT, Progress

NO_HEADER = {1: ["text"], 2: ["text_a", "text_b"]}
"""What the columns of a table without names are called in the answer."""

Added = dict[str, Any]
"""Values by the names of new columns."""


@dataclass(frozen=True)
class AnsweredTable:
    """The rows of a table in their order, and what is added to each: cells, and a record of the same."""

    names: list[str]
    rows: list[Row]
    new_names: list[str]
    """The names of the columns that are added."""
    cells_added: list[list[str]]
    records_added: list[Added]

    def cells(self) -> list[list[str]]:
        """Return the header and all rows as cells of text."""
        found = [[*self.names, *self.new_names]]
        for row, added in zip(self.rows, self.cells_added, strict=True):
            found.append([*("" if row.get(name) is None else str(row[name]) for name in self.names), *added])
        return found

    def records(self) -> list[dict[str, Any]]:
        """Return all rows with what was added, by name."""
        return [{**row, **added} for row, added in zip(self.rows, self.records_added, strict=True)]


def _free(name: str, taken: Sequence[str]) -> str:
    """Return a name for a new column: a table may have one of that name already."""
    return f"predicted_{name}" if name in taken else name


def label_table(
    classifier: Classifier, path: str, columns: Sequence[str | int] = (), progress: Progress = SILENT
) -> AnsweredTable:
    """Label the rows of a .csv, .tsv or .jsonl file (.gz too); `columns` name the texts if they cannot be guessed."""
    names, rows, answers = _answered(classifier, path, columns, classifier.texts, progress)
    label = _free("label", names)
    new = [label, *(f"probability_{each}" for each in classifier.labels)]
    cells = lambda each: [each.label, *(f"{value:.6f}" for value in each.probabilities.values())]
    record = lambda each: {label: each and each.label, "probabilities": each and each.probabilities}
    return _table(names, rows, new, answers, cells, record)


def rate_table(
    regressor: Regressor, path: str, columns: Sequence[str | int] = (), progress: Progress = SILENT
) -> AnsweredTable:
    """Give the rows of a table their numbers."""
    names, rows, answers = _answered(regressor, path, columns, regressor.texts, progress)
    number = _free("score", names)
    cells, record = lambda each: [f"{each.number:.6f}"], lambda each: {number: each and each.number}
    return _table(names, rows, [number], answers, cells, record)


def tag_table(
    tagger: Tagger, path: str, columns: Sequence[str | int] = (), progress: Progress = SILENT
) -> AnsweredTable:
    """Tag the text of each row: its words, their tags, and the spans as JSON."""
    names, rows, answers = _answered(tagger, path, columns, 1, progress)
    new = [_free(name, names) for name in ("words", "tags", "spans")]
    spans = lambda each: [vars(span) for span in each.spans]
    cells = lambda each: [
        " ".join(each.words),
        " ".join(each.tags),
        json.dumps(spans(each), ensure_ascii=False),
    ]
    record = lambda each: dict(zip(new, (each.words, each.tags, spans(each)) if each else (None, None, None)))
    return _table(names, rows, new, answers, cells, record)


def answer_table(
    answerer: Answerer, path: str, threshold: float | None = None, progress: Progress = SILENT
) -> AnsweredTable:
    """Answer the question of each row about its context."""
    table = read_rows(path, None, "train", lambda row: True)
    known = {name.strip().lower(): name for name in table.names}
    if not {"context", "question"} <= set(known):
        raise DataError(f"{path}: there are no columns context and question ({', '.join(table.names)}).")
    columns = [known["question"], known["context"]]
    asked: Any = [texts_in(row, columns, f"{path}: {where}") for where, row in table.rows]
    whole = [each for each in asked if all(each)]
    replies = iter(answerer(whole, threshold=threshold, progress=progress))
    answers = [next(replies) if all(each) else None for each in asked]
    text, probability = _free("answer", table.names), _free("probability", table.names)
    cells = lambda each: [each.text, f"{each.answer.probability:.6f}"]
    record = lambda each: {text: each and each.text, probability: each and each.answer.probability}
    return _table(table.names, [row for _, row in table.rows], [text, probability], answers, cells, record)


def _table(
    names: list[str],
    rows: list[Row],
    new: list[str],
    answers: Sequence[Any],
    cells: Callable[[Any], list[str]],
    record: Callable[[Any], Added],
) -> AnsweredTable:
    """Return a table with answers; a row without a text has empty cells."""
    added = [[""] * len(new) if each is None else cells(each) for each in answers]
    return AnsweredTable(names, rows, new, added, [record(each) for each in answers])


def _answered(
    pipeline: Any, path: str, columns: Sequence[str | int], count: int, progress: Progress
) -> tuple[list[str], list[Row], list[Any]]:
    """Return the names and rows of a table, and the answer to each; None where a text is blank."""
    table = read_rows(path, None, "train", lambda row: _is_header(row, columns))
    texts = _text_columns(table, columns, count)
    rows = [(texts_in(row, texts, f"{path}: {where}"), row) for where, row in table.rows]
    given: Any = [found[0] if len(found) == 1 else found for found, row in rows if row and all(found)]
    answers = iter(pipeline(given, progress=progress))
    found = [next(answers) if row and all(found) else None for found, row in rows]
    names = table.names if table.has_header else NO_HEADER[count]
    kept = [row if table.has_header else dict(zip(names, row.values())) for _, row in rows]
    return names, kept, found


def _is_header(row: Sequence[str], columns: Sequence[str | int]) -> bool:
    return any(isinstance(name, str) for name in columns) or known_texts(row) is not None


def _text_columns(table: Table, columns: Sequence[str | int], count: int) -> tuple[str, ...]:
    """Return the columns that hold the texts, as many as the model reads."""
    texts = tuple(table.column(name) for name in columns) or known_texts(table.names, count)
    if texts is None and not table.has_header and len(table.names) == count:
        texts = tuple(table.names)
    if texts is None or len(texts) != count:
        what = "the text" if count == 1 else "the two texts"
        names = ", ".join(table.names)
        raise DataError(f"{table.origin}: no column ({names}) is known to hold {what}; say --text-column.")
    return texts
