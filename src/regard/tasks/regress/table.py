"""Regression on the rows of a table."""

from collections.abc import Sequence

from regard.pipelines.result_tables import ResultTable, row_results
from regard.pipelines.text_tables import read_text_table
from regard.progress import SILENT, Progress
from regard.tasks.regress.pipeline import Regressor


def regress_table(
    regressor: Regressor, path: str, columns: Sequence[str | int] = (), progress: Progress = SILENT
) -> ResultTable:
    """Predict a number for each row of a table; `columns` name the texts if they cannot be guessed."""
    table = read_text_table(path, columns, regressor.texts, regressor.columns, progress)
    return ResultTable(
        table,
        row_results(regressor, table, progress),
        ["number"],
        lambda each: [f"{each.number:.6f}"],
        lambda each: {"number": each.number},
    )
