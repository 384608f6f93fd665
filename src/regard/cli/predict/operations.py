"""Verbs made of operations of tasks, built-in or installed: rows in, a result per row out."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.inputs import ENDINGS, Fields, RowFormat, has_suffix
from regard.cli.loading import LOADING, load_model, load_text_encoder
from regard.cli.options import NOTHING, Flag, Given, Json, Quiet, Run, TableOut, column, flag_name, flags_of, options
from regard.cli.tables import check_out, print_results, write_results
from regard.config.schema import FieldSpec, fields_of
from regard.config.settings import Settings
from regard.errors import ConfigError
from regard.progress import Progress
from regard.tasks.contract import AnyTask
from regard.tasks.declarations import Operation

if TYPE_CHECKING:
    from regard.pipelines.base import AnyPipeline

Verb = Callable[..., None]
TABLES = "Input tables"
INPUTS = "Inputs (default: standard input, one per line)."


def operation_verb(task: AnyTask, operation: Operation, summary: str = "") -> Verb:
    """Return the verb of an operation; `summary` is the first paragraph of its help."""

    @options(*operation_flags(operation), *LOADING)
    def verb(
        run: Run,
        inputs: Annotated[list[str] | None, typer.Argument(metavar=_metavar(operation), help=INPUTS)] = None,
        out: TableOut = None,
        quiet: Quiet = False,
        json: Json = False,
        given: Given = NOTHING,
    ) -> None:
        from regard.cli.console import progress

        check_inputs(operation, inputs, given, out)
        chosen = given.settings(operation.options)
        model = load_text_encoder(run, given) if operation.takes_encoders else load_model(run, given, task.name)
        answer(operation, operation.pipeline(model), inputs, given, chosen, out, json, progress(quiet))

    verb.__doc__ = f"{summary or operation.summary}\n\n{_details(operation)}"
    return verb


def operation_flags(operation: Operation) -> list[Flag]:
    """Return the options of an operation, those that name a file, its columns, and what all rows share."""
    specs = _specs(operation)
    formats = "".join(f"{each}, " for each in operation.formats)
    file = f"Input file: lines of text, {formats}or a .csv, .tsv, .jsonl or .json table (.gz too)."
    shared = [
        Flag(name, Path, f"File with {_of(specs[name])}, the same for all rows.", letter=f"-{name[0]}")
        for name in operation.shared
    ]
    columns = [
        Flag(
            f"{name}_column",
            tuple[str, ...] if _is_first_of_texts(operation, name) else str,
            f"Column with {_of(specs[name])}: its name, or index from 0 (default: detected)."
            + (" Repeat for the next text." if _is_first_of_texts(operation, name) else ""),
            TABLES,
        )
        for name in operation.inputs
    ]
    return [
        Flag("file", Path, file, letter="-f"),
        *shared,
        *flags_of(operation.options, shows_defaults=True),
        *columns,
    ]


def check_inputs(operation: Operation, inputs: list[str] | None, given: Given, out: Path | None) -> None:
    """Raise for contradicting arguments, before a model is loaded."""
    file, is_file = given["file"], _is_rows(operation, given["file"])
    if inputs and file:
        raise ConfigError("Give either texts or --file, not both.")
    columns = [flag_name(f"{name}_column") for name in operation.inputs if given[f"{name}_column"]]
    if columns and not is_file:
        verb = "is" if len(columns) == 1 else "are"
        raise ConfigError(f"{' and '.join(columns)} {verb} for tables; give one with --file.")
    for name in operation.shared:
        if given[name] is not None and is_file:
            raise ConfigError(f"{flag_name(name)}: {file} has its own {name} in every row; leave one of them out.")
    check_out(out, operation.result.files)


def answer(
    operation: Operation,
    pipeline: "AnyPipeline",
    inputs: list[str] | None,
    given: Given,
    chosen: Settings,
    out: Path | None,
    is_json: bool,
    reporter: Progress,
) -> None:
    """Print or write the result of each row of the inputs."""
    from regard.pipelines.base import warn_of_truncated
    from regard.pipelines.result_tables import ResultTable

    file, columns = given["file"], columns_of(operation, given)
    if _is_rows(operation, file) and not has_suffix(file, operation.formats):
        write_results(pipeline.table(file, columns=columns, options=chosen, progress=reporter), out, is_json)
        return
    resolved, number = pipeline.options(chosen), 1
    every, every_row = list[Any](), list[Any]()
    for rows in _chunks(operation, pipeline, inputs, given, columns, reporter):
        where = [f"line {line:,}" for line in range(number, number + len(rows))]
        results = pipeline.answers(rows, resolved, where, reporter)
        if out is None:
            is_alone = bool(inputs) and len(rows) == 1
            print_results(results, is_json, operation.result.is_numbered, None if is_alone else number)
        every, every_row, number = every + results, every_row + rows, number + len(rows)
    warn_of_truncated(every, reporter)
    if out is not None:
        write_results(ResultTable.of_rows(every_row, every), out, is_json)


def columns_of(operation: Operation, given: Given) -> dict[str, str | int]:
    """Return the columns that were given by the field of a row; further values of a repeated flag are the next."""
    columns: dict[str, str | int] = {}
    for position, name in enumerate(operation.inputs):
        words = given[f"{name}_column"] or []
        for following, word in enumerate([words] if isinstance(words, str) else words, position):
            if following == len(operation.inputs) or operation.inputs[following] in columns:
                raise ConfigError(f"{flag_name(f'{name}_column')} {word}: one column too many; leave this one out.")
            columns[operation.inputs[following]] = column(word)
    return columns


def _chunks(
    operation: Operation,
    pipeline: "AnyPipeline",
    inputs: list[str] | None,
    given: Given,
    columns: dict[str, str | int],
    reporter: Progress,
) -> Iterator[list[Any]]:
    """Yield the rows of a file of the task's own format, else those of arguments or lines."""
    from regard.data.sources.lines import read_text

    if has_suffix(given["file"], operation.formats):
        yield pipeline.read_rows(str(given["file"]), columns, reporter)
        return
    shared: Fields = {name: read_text(given[name]) for name in operation.shared if given[name] is not None}
    names = tuple(name for name in pipeline.inputs[: pipeline.texts] if name not in shared)
    is_open = _is_list(_specs(operation)[names[-1]])
    for rows in RowFormat(names, is_open).rows(inputs, given["file"]):
        yield [None if row is None else row | shared for row in rows]


def _is_rows(operation: Operation, file: Path | None) -> bool:
    """Return whether a file holds rows of fields: a table, or a format of the task."""
    return has_suffix(file, (*ENDINGS, *operation.formats))


def _specs(operation: Operation) -> dict[str, FieldSpec]:
    return {each.name: each for each in fields_of(operation.row)}


def _is_list(field: FieldSpec) -> bool:
    return bool(getattr(field.type, "__args__", ())) and "equence" in str(field.type)


def _is_first_of_texts(operation: Operation, name: str) -> bool:
    """Return whether a field is the first of several texts."""
    specs = _specs(operation)
    return (
        name == operation.inputs[0]
        and not any(_is_list(specs[each]) for each in operation.inputs[1:])
        and (len(operation.inputs) > 1)
    )


def _of(field: FieldSpec) -> str:
    doc = field.doc.rstrip(".") or f"the {field.name}"
    return doc[0].lower() + doc[1:]


def _metavar(operation: Operation) -> str:
    required = [name for name in operation.inputs if _specs(operation)[name].is_required]
    return " ".join(required or operation.inputs[:1]).upper()


def _details(operation: Operation) -> str:
    """Return the second paragraph of a verb's help."""
    specs = _specs(operation)
    optional = [
        f" [TAB {name}]" for name in operation.inputs[1:] if not specs[name].is_required and not _is_list(specs[name])
    ]
    line = _metavar(operation).lower().replace(" ", " TAB ") + "".join(optional)
    columns = ", ".join(operation.result.columns)
    kept = "" if operation.result.is_numbered else "; blank lines are kept"
    return (
        f"An input line is {line}{kept}. A table comes back as CSV with its results in further columns ({columns}). "
        f"{operation.details}".rstrip()
    )
