"""A table in, the same table with labels and probabilities out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from regard.data.labelled import known_texts, texts_in
from regard.data.tables import Row, Table, read_rows
from regard.errors import DataError
from regard.pipelines.classifier import Classification, Classifier
from regard.progress import SILENT, Progress

NO_HEADER = {1: ["text"], 2: ["text_a", "text_b"]}
"""What the columns of a table without names are called in the answer."""


@dataclass(frozen=True)
class LabelledTable:
    """The rows of a table in their order, and the answer to each; None where the text is blank."""

    names: list[str]
    rows: list[Row]
    answers: list[Classification | None]
    labels: tuple[str, ...]

    @property
    def new_names(self) -> list[str]:
        """The names of the columns that are added: a table may have labels of its own."""
        label = "predicted_label" if "label" in self.names else "label"
        return [label, *(f"probability_{each}" for each in self.labels)]

    def cells(self) -> list[list[str]]:
        """Return the header and all rows as cells of text."""
        found = [[*self.names, *self.new_names]]
        for row, answer in zip(self.rows, self.answers, strict=True):
            own = ["" if row.get(name) is None else str(row[name]) for name in self.names]
            added = [""] * len(self.new_names)
            if answer is not None:
                added = [answer.label, *(f"{value:.6f}" for value in answer.probabilities.values())]
            found.append([*own, *added])
        return found

    def records(self) -> list[dict[str, Any]]:
        """Return all rows with what was added, by name."""
        label = self.new_names[0]
        return [
            {**row, label: answer and answer.label, "probabilities": answer and answer.probabilities}
            for row, answer in zip(self.rows, self.answers, strict=True)
        ]


def label_table(
    classifier: Classifier, path: str, columns: Sequence[str | int] = (), progress: Progress = SILENT
) -> LabelledTable:
    """Label the rows of a .csv, .tsv or .jsonl file (.gz too); `columns` name the texts if they cannot be guessed."""
    table = read_rows(path, None, "train", lambda row: _is_header(row, columns))
    texts = _text_columns(table, columns, classifier.texts)
    rows = [(texts_in(row, texts, f"{path}: {where}"), row) for where, row in table.rows]
    given: Any = [found[0] if len(found) == 1 else found for found, row in rows if row and all(found)]
    answers = iter(classifier(given, progress=progress))
    found = [next(answers) if row and all(found) else None for found, row in rows]
    names = table.names if table.has_header else NO_HEADER[classifier.texts]
    kept = [row if table.has_header else dict(zip(names, row.values())) for _, row in rows]
    return LabelledTable(names, kept, found, classifier.labels)


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
