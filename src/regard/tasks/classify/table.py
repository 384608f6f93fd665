"""Classification of the rows of a table."""

from collections.abc import Sequence

from regard.pipelines.result_tables import ResultTable, row_results
from regard.pipelines.text_tables import read_text_table
from regard.progress import SILENT, Progress
from regard.tasks.classify.pipeline import Classifier


def classify_table(
    classifier: Classifier, path: str, columns: Sequence[str | int] = (), progress: Progress = SILENT
) -> ResultTable:
    """Classify the rows of a table; `columns` name the texts if they cannot be guessed."""
    table = read_text_table(path, columns, classifier.texts, classifier.columns, progress)
    return ResultTable(
        table,
        row_results(classifier, table, progress),
        ["label", *(f"probability_{each}" for each in classifier.labels)],
        lambda each: [each.label, *(f"{value:.6f}" for value in each.probabilities.values())],
        lambda each: {"label": each.label, "probabilities": each.probabilities},
    )
