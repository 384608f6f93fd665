"""Tables with the results of a pipeline as additional columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from regard.pipelines.text_tables import TextTable

if TYPE_CHECKING:
    from regard.pipelines.base import Result


@dataclass(frozen=True)
class ResultTable:
    """A table with a result for each of its rows; None where a text is empty."""

    table: TextTable
    results: "Sequence[Result | None]"

    def cells(self) -> list[list[str]]:
        """Return the header and all rows as cells of text."""
        added = [{} if each is None else each.cells() for each in self.results]
        names = list(dict.fromkeys(name for row in added for name in row))
        return self.table.cells(names, ([row.get(name, "") for name in names] for row in added))

    def records(self) -> list[dict[str, object]]:
        """Return all rows as records with the additional fields; None for empty texts."""
        blank = dict.fromkeys(next((each.columns for each in self.results if each is not None), ()))
        return self.table.records(blank if each is None else each.record() for each in self.results)
