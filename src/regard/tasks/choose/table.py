"""Multiple choice over the rows of a table."""

from regard.data.settings.examples import ChoiceSource
from regard.data.sources.multiple_choice import choices_in
from regard.data.sources.tables import read_rows
from regard.pipelines.result_tables import ResultTable
from regard.pipelines.text_tables import TextTable
from regard.progress import SILENT, Progress
from regard.tasks.choose.pipeline import MultipleChoice


def choose_table(chooser: MultipleChoice, path: str, progress: Progress = SILENT) -> ResultTable:
    """Choose among the choices of each row: added are index and text of the best, and the probability of each."""
    table = read_rows(path, None, "train", lambda row: True)
    examples = choices_in(table, ChoiceSource(path=path), chooser.columns, progress)
    chosen = iter(chooser([(each.context, each.choices) for each in examples if each], progress=progress))
    most = max((len(each.choices) for each in examples if each), default=0)
    rows = TextTable(table.names, [row for _, row in table.rows], [], [])
    return ResultTable(
        rows,
        [next(chosen) if each else None for each in examples],
        ["number", "choice", *(f"probability_{number}" for number in range(most))],
        lambda each: [
            *(str(each.number), each.choice),
            *(f"{value:.6f}" for value in each.probabilities),
            *[""] * (most - len(each.probabilities)),
        ],
        lambda each: {"number": each.number, "choice": each.choice, "probabilities": each.probabilities},
    )
