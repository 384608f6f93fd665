"""The answers of an operation: rows of arguments, lines and tables in, lines, JSON, tables and streams out."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.console import print_json, print_records, write
from regard.cli.inputs import ENDINGS, has_suffix, rows_of
from regard.cli.options import Given
from regard.cli.tables import print_results, write_results
from regard.config.schema import fields_of
from regard.pipelines.row_format import Fields, RowFormat
from regard.progress import Progress
from regard.tasks.declarations import Listing, Operation

if TYPE_CHECKING:
    from regard.pipelines.base import Pipeline

BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
"""Characters that end a line."""


@dataclass(frozen=True)
class Call:
    """An operation of a loaded model, with what its verb was given."""

    operation: Operation
    pipeline: "Pipeline[Any, Any, Any]"
    chosen: dict[str, object]
    """The options that were given."""
    columns: dict[str, str | int]
    given: Given
    is_json: bool
    reporter: Progress

    @property
    def format(self) -> RowFormat:
        """The rows of lines and arguments."""
        names = tuple(each for each in self.pipeline.inputs[: self.pipeline.texts] if each not in self.shared)
        is_open = next(each for each in fields_of(self.operation.row) if each.name == names[-1]).is_list
        return RowFormat(names, is_open, self.operation.takes_blank)

    @property
    def shared(self) -> Fields:
        """The fields that a file gives to all rows."""
        from regard.data.sources.lines import read_text

        files = {name: self.given[name] for name in self.operation.shared}
        return {name: read_text(file) for name, file in files.items() if file is not None}

    def answer(self, inputs: list[str] | None, out: Path | None) -> None:
        """Print or write the result of each row of the inputs."""
        from regard.pipelines.result_tables import ResultTable, warn_of_truncated

        view = next((each for each in self.operation.views if self.given[each.name] is not None), None)
        if view is not None:
            self._view(view, inputs or [])
            return
        options, file = self.pipeline.options(**self.chosen), self.given["file"]
        if has_suffix(file) and not has_suffix(file, self.operation.formats):
            table = self.pipeline.table(file, columns=self.columns, options=options, progress=self.reporter)
            write_results(table, out, self.is_json)
            return
        every, every_row, number = list[Any](), list[Any](), 1
        for rows in self.chunks(inputs, file):
            is_alone = bool(inputs) and len(rows) == 1
            if self._streams(options, rows, out):
                self._stream(rows[0], options, number)
            else:
                where = [f"line {line:,}" for line in range(number, number + len(rows))]
                results = self.pipeline.answers(rows, options, where, self.reporter, number)
                if out is None:
                    print_results(self.operation.result, results, self.is_json, None if is_alone else number)
                every, every_row = every + results, every_row + rows
            number += len(rows)
        warn_of_truncated(every, self.reporter)
        if out is not None:
            write_results(ResultTable.of_rows(every_row, every), out, self.is_json)

    def chunks(self, inputs: list[str] | None, file: Path | None) -> Iterator[list[Any]]:
        """Yield the rows of a file of the task's own format, else those of arguments or lines."""
        if has_suffix(file, self.operation.formats):
            yield self.pipeline.read_rows(str(file), self.columns, self.reporter)
            return
        shared = self.shared
        for rows in rows_of(self.format, inputs, file):
            yield [None if row is None else row | shared for row in rows]

    def _streams(self, options: Any, rows: list[Any], out: Path | None) -> bool:
        """Return whether a result is printed while it is generated: one output of a row that is alone."""
        if not self.operation.streams or self.is_json or out is not None or len(rows) != 1:
            return False
        return options.streams and rows[0] is not None

    def _stream(self, row: Any, options: Any, number: int) -> None:
        parts = self.pipeline.stream(row, options=options, first_row=number)
        is_block = self.operation.result.is_block
        if is_block and number > 1:
            write("\n")
        for part in parts if is_block else on_one_line(map(str, parts)):
            write(str(part))
            sys.stdout.flush()
        write("\n")
        sys.stdout.flush()

    def _view(self, view: Listing, inputs: list[str]) -> None:
        values = getattr(self.pipeline, view.name)(inputs[0], count=self.given[view.name], **self.chosen)
        print_json(values) if self.is_json else print_records(values)


def on_one_line(parts: Iterable[str]) -> Iterator[str]:
    """Yield parts of a text so that all of them are one line: its lines, joined by spaces."""
    text = shown = ""
    for part in parts:
        text += part
        line = " ".join(text.rstrip(BREAKS).splitlines())
        yield line[len(shown) :]
        shown = line
    yield " ".join(text.splitlines())[len(shown) :]


def is_table(operation: Operation, file: Path) -> bool:
    """Return whether a file is a table, and not in a format of the task."""
    return has_suffix(file, ENDINGS) and not has_suffix(file, operation.formats)
