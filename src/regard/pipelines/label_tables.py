"""A table in, the same table with labels and probabilities out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from regard.pipelines.classifier import Classification, Classifier
from regard.pipelines.text_tables import TextTable, read_text_table
from regard.progress import SILENT, Progress


@dataclass(frozen=True)
class LabelledTable:
    """A table, and the answer to each of its rows; None where the text is blank."""

    table: TextTable
    answers: list[Classification | None]
    labels: tuple[str, ...]

    def cells(self) -> list[list[str]]:
        """Return the header and all rows as cells of text."""
        names = ["label", *(f"probability_{each}" for each in self.labels)]
        blank = [""] * len(names)
        return self.table.cells(
            names,
            (
                [answer.label, *(f"{value:.6f}" for value in answer.probabilities.values())] if answer else blank
                for answer in self.answers
            ),
        )

    def records(self) -> list[dict[str, Any]]:
        """Return all rows with what was added, by name."""
        return self.table.records(
            {"label": answer and answer.label, "probabilities": answer and answer.probabilities}
            for answer in self.answers
        )


def label_table(
    classifier: Classifier, path: str, columns: Sequence[str | int] = (), progress: Progress = SILENT
) -> LabelledTable:
    """Label the rows of a .csv, .tsv or .jsonl file (.gz too); `columns` name the texts if they cannot be guessed."""
    table = read_text_table(path, columns, classifier.texts)
    given: Any = [texts[0] if len(texts) == 1 else texts for texts in table.texts if all(texts)]
    answers = iter(classifier(given, progress=progress))
    return LabelledTable(table, [next(answers) if all(texts) else None for texts in table.texts], classifier.labels)
