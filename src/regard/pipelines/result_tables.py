"""Tables with the results of a pipeline as additional columns."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from regard.pipelines.text_tables import TextTable
from regard.progress import Progress


@dataclass(frozen=True)
class ResultTable:
    """A table with a result for each of its rows; None where a text is empty."""

    table: TextTable
    results: list[Any]
    names: list[str]
    """Names of the additional columns."""
    as_cells: Callable[[Any], list[str]]
    as_record: Callable[[Any], dict[str, Any]]

    def cells(self) -> list[list[str]]:
        """Return the header and all rows as cells of text."""
        blank = [""] * len(self.names)
        return self.table.cells(self.names, (blank if each is None else self.as_cells(each) for each in self.results))

    def records(self) -> list[dict[str, Any]]:
        """Return all rows as records with the additional fields; None for empty texts."""
        first = next((each for each in self.results if each is not None), None)
        blank = {} if first is None else dict.fromkeys(self.as_record(first))
        return self.table.records(blank if each is None else self.as_record(each) for each in self.results)


def row_results(pipeline: Callable[..., list[Any]], table: TextTable, progress: Progress) -> list[Any]:
    """Return a pipeline's result for each row of texts; None where a text is empty."""
    given: Any = [texts[0] if len(texts) == 1 else texts for texts in table.texts if all(texts)]
    results = pipeline(given, progress=progress)
    truncated = sum(getattr(each, "is_truncated", False) for each in results)
    if truncated:
        progress.warn(f"{truncated:,} of the texts are longer than the model's maximum length and were truncated.")
    remaining = iter(results)
    return [next(remaining) if all(texts) else None for texts in table.texts]
