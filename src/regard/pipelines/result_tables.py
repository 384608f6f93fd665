"""Tables with the results of a pipeline as additional columns."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.pipelines.text_tables import TextTable
from regard.progress import Progress

if TYPE_CHECKING:
    from regard.pipelines.base import Result


RECORDS = (".jsonl", ".ndjson")
"""Suffixes of tables of JSON lines."""


def result_text(kind: "type[Result]", result: "Result | None", number: int | None) -> str:
    """Return the text of a result, or of a blank row, after those of the rows before; no number: the only row."""
    blank = [] if kind.is_numbered else [""]
    before = [""] if kind.is_block and (number or 1) > 1 else []
    lines = blank if result is None else result.numbered(number)
    return "".join(f"{line}\n" for line in [*before, *lines])


@dataclass(frozen=True)
class ResultTable:
    """A table with a result for each of its rows; None where a text is empty."""

    table: TextTable
    results: "Sequence[Result | None]"

    @classmethod
    def of_rows(cls, rows: Sequence[Any], results: "Sequence[Result | None]") -> "ResultTable":
        """Return the table of rows that came from elsewhere: their fields are its columns; None is an empty row."""
        cells = [asdict(row) if is_dataclass(row) and not isinstance(row, type) else row or {} for row in rows]
        names = list(dict.fromkeys(name for row in cells for name in row))
        return cls(TextTable(names, [dict.fromkeys(names) | row for row in cells], [], []), results)

    def cells(self) -> list[list[str]]:
        """Return the header and all rows as cells of text."""
        added = [{} if each is None else each.cells() for each in self.results]
        names = list(dict.fromkeys(name for row in added for name in row))
        return self.table.cells(names, ([row.get(name, "") for name in names] for row in added))

    def write(self, path: str | Path, is_json: bool = False) -> int:
        """Write the table in the format of the suffix (the results' own, JSON lines, TSV, CSV); return its rows."""
        path, results = Path(path), [each for each in self.results if each is not None]
        suffix = path.suffix.lower()
        if results and suffix in results[0].files:
            type(results[0]).write(path, results)
            return len(results)
        text = self.as_lines() if is_json or suffix in RECORDS else self.as_text(suffix == ".tsv")
        path.write_text(text, encoding="utf-8", newline="")
        return len(self.results)

    def as_text(self, has_tabs: bool = False) -> str:
        """Return the table as CSV; or separated by tabs without quotes, separators within cells as spaces."""
        if has_tabs:
            return "".join("\t".join(" ".join(cell.split()) for cell in row) + "\n" for row in self.cells())
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(self.cells())
        return text.getvalue()

    def as_lines(self) -> str:
        """Return the table as JSON lines."""
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in self.records())

    def records(self) -> list[dict[str, object]]:
        """Return all rows as records with the additional fields; None for empty texts."""
        blank = dict.fromkeys(next((each.columns for each in self.results if each is not None), ()))
        return self.table.records(blank if each is None else each.record() for each in self.results)


def warn_of_truncated(results: "Iterable[Result | None]", progress: Progress) -> None:
    """Report how many texts were truncated."""
    if truncated := sum(each is not None and each.is_truncated for each in results):
        progress.warn(f"{truncated:,} of the texts are longer than the model's maximum length and were truncated.")
