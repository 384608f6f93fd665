"""The answers of an operation: rows of arguments, lines and tables in, lines, JSON, tables and streams out."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.console import print_json, print_line, print_records, write
from regard.cli.inputs import ENDINGS, chunks, has_suffix
from regard.cli.options import Given, column, flag_name
from regard.errors import ConfigError
from regard.escaping import on_one_line
from regard.pipelines.row_format import Fields, RowFormat
from regard.tasks.declarations import Listing, Operation

if TYPE_CHECKING:
    from regard.pipelines.base import Pipeline, Result
    from regard.pipelines.result_tables import ResultTable

WRITTEN = ("", ".csv", ".tsv", ".jsonl", ".ndjson")
"""Suffixes of output tables; without one it is CSV."""


@dataclass(frozen=True)
class Call:
    """An operation of a loaded model, with what its verb was given."""

    operation: Operation
    pipeline: "Pipeline[Any, Any, Any]"
    given: Given

    @property
    def chosen(self) -> dict[str, object]:
        """The options of the operation that were given."""
        return self.given.values_of(self.operation.option_names)

    @property
    def columns(self) -> dict[str, str | int]:
        """The columns that were given by the field of a row; further values of a repeated flag are the next."""
        columns: dict[str, str | int] = {}
        inputs = self.operation.inputs
        for position, name in enumerate(inputs):
            words = self.given[f"{name}_column"] or []
            for following, word in enumerate([words] if isinstance(words, str) else words, position):
                if following == len(inputs) or inputs[following] in columns:
                    flag = flag_name(f"{name}_column")
                    raise ConfigError(f"{flag} {word}: one column too many; leave this one out.")
                columns[inputs[following]] = column(word)
        return columns

    @property
    def format(self) -> RowFormat:
        """The rows of lines and arguments."""
        names = tuple(each for each in self.pipeline.inputs[: self.pipeline.texts] if each not in self.shared)
        return RowFormat(names, self.operation.fields[names[-1]].is_list, self.operation.takes_blank)

    @property
    def shared(self) -> Fields:
        """The fields that a file gives to all rows."""
        from regard.data.sources.lines import read_text

        return {name: read_text(file) for name, file in self.given.values_of(self.operation.shared).items()}

    def answer(self, inputs: list[str] | None, out: Path | None) -> None:
        """Print or write the result of each row of the inputs."""
        from regard.pipelines.result_tables import ResultTable, warn_of_truncated

        view = next((each for each in self.operation.views if self.given[each.name] is not None), None)
        if view is not None:
            self._view(view, inputs or [])
            return
        options, file = self.pipeline.options(**self.chosen), self.given["file"]
        is_json, reporter = bool(self.given["json"]), self.given.progress
        if self.is_table(file):
            table = self.pipeline.table(file, columns=self.columns, options=options, progress=reporter)
            write_results(table, out, is_json)
            return
        every, every_row, number = list[Any](), list[Any](), 1
        for rows in self.chunks(inputs, file):
            is_alone = bool(inputs) and len(rows) == 1
            if self._streams(options, rows, out):
                self._stream(rows[0], options, number)
            else:
                where = [f"line {line:,}" for line in range(number, number + len(rows))]
                results = self.pipeline.answers(rows, options, where, reporter, number)
                if out is None:
                    print_results(self.operation.result, results, is_json, None if is_alone else number)
                every, every_row = every + results, every_row + rows
            number += len(rows)
        warn_of_truncated(every, reporter)
        if out is not None:
            write_results(ResultTable.of_rows(every_row, every), out, is_json)

    def is_table(self, file: Path | None) -> bool:
        """Return whether a file is a table, and not in a format of the task."""
        return has_suffix(file, ENDINGS) and not has_suffix(file, self.operation.formats)

    def chunks(self, inputs: list[str] | None, file: Path | None) -> Iterator[list[Any]]:
        """Yield the rows of a file of the task's own format, else those of arguments or lines."""
        if has_suffix(file, self.operation.formats):
            yield self.pipeline.read_rows(str(file), self.columns, self.given.progress)
            return
        shared, form, first = self.shared, self.format, 1
        for chunk in chunks(inputs, file):
            lines = (form.of_line(line, number) for number, line in enumerate(chunk, first))
            rows = form.of_arguments(chunk) if inputs else lines
            yield [None if row is None else row | shared for row in rows]
            first += len(chunk)

    def _streams(self, options: Any, rows: list[Any], out: Path | None) -> bool:
        """Return whether a result is printed while it is generated: one output of a row that is alone."""
        if not self.operation.streams or self.given["json"] or out is not None or len(rows) != 1:
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
        print_json(values) if self.given["json"] else print_records(values)


def check_out(out: Path | None, more: Sequence[str] = ()) -> None:
    """Raise for an output path that cannot be written, before anything is computed; `more` are further suffixes."""
    if out is None:
        return
    if not out.parent.is_dir():
        raise ConfigError(f"--out {out}: there is no folder {out.parent}; create it, or name another file.")
    if out.is_dir():
        raise ConfigError(f"--out {out}: this is a folder; name a file inside it.")
    if out.suffix.lower() not in (*WRITTEN, *more):
        *names, last = ".csv", ".tsv", ".jsonl", *(each for each in more if each not in WRITTEN)
        raise ConfigError(f'--out {out}: no table is written as "{out.suffix}"; use {", ".join(names)} or {last}.')


def print_results(
    kind: "type[Result]", results: Iterable["Result | None"], is_json: bool, first: int | None = None
) -> None:
    """Print each result of a kind: a line of JSON, or its text; `first` is the number of the first row."""
    from regard.pipelines.result_tables import result_text

    for offset, result in enumerate(results):
        if is_json:
            print_json(result and result.to_dict(), indent=None)
        else:
            write(result_text(kind, result, None if first is None else first + offset))
    sys.stdout.flush()


def write_results(table: "ResultTable", out: Path | None, is_json: bool) -> None:
    """Print rows with their results as CSV or JSON lines, or write them in the format of the file's suffix."""
    if out is None:
        write(table.as_lines() if is_json else table.as_text())
    else:
        rows = table.write(out, is_json)
        print_line(f"{out}: {rows:,} row{'' if rows == 1 else 's'}.")
