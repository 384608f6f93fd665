"""Question answering over the rows of a table."""

from regard.data.sources.squad import question_columns
from regard.data.sources.tables import read_rows
from regard.pipelines.result_tables import ResultTable, row_results
from regard.pipelines.text_tables import with_texts
from regard.progress import SILENT, Progress
from regard.tasks.answer.pipeline import QuestionAnswerer


def answer_table(
    answerer: QuestionAnswerer, path: str, threshold: float | None = None, progress: Progress = SILENT
) -> ResultTable:
    """Answer the question of each row about its context: added are the answer and its probability."""
    rows = read_rows(path, None, "train", lambda row: True)
    table = with_texts(rows, question_columns(rows.names, path), progress)
    answer = lambda given, progress: answerer(given, threshold=threshold, progress=progress)
    return ResultTable(
        table,
        row_results(answer, table, progress),
        ["answer", "probability"],
        lambda each: [each.text, f"{each.answer.probability:.6f}"],
        lambda each: {"answer": each.text, "probability": each.answer.probability},
    )
