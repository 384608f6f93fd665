"""Verbs made of operations of tasks, built-in or installed: rows in, a result per row out."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.inputs import ENDINGS, has_suffix
from regard.cli.loading import load_model, load_text_encoder, loading_flags
from regard.cli.options import NOTHING, Flag, Given, Json, Quiet, Run, TableOut, column, flag_name, flags_of, options
from regard.cli.predict.answers import Call
from regard.cli.predict.jobs import check_job, run_job
from regard.cli.tables import check_out
from regard.config.schema import FieldSpec, fields_of
from regard.errors import ConfigError
from regard.pipelines.settings import JobSettings
from regard.tasks.contract import AnyTask
from regard.tasks.declarations import Operation

Verb = Callable[..., None]
TABLES, JOBS = "Input tables", "Batch jobs"
INPUTS = "Inputs (default: standard input, one per line)."


def operation_verb(task: AnyTask, operation: Operation, summary: str = "") -> Verb:
    """Return the verb of an operation; `summary` is the first paragraph of its help."""

    @options(*operation_flags(operation), *flags_of(JobSettings, panel=JOBS), *loading_flags(task.loads))
    def verb(
        run: Run,
        inputs: Annotated[list[str] | None, typer.Argument(metavar=_metavar(operation), help=INPUTS)] = None,
        out: TableOut = None,
        quiet: Quiet = False,
        json: Json = False,
        given: Given = NOTHING,
    ) -> None:
        from regard.cli.console import progress
        from regard.runs.store.folder import read_record

        job = check_job(operation, inputs, given, out)
        check_inputs(operation, inputs, given, None if job else out)
        if is_checked_alone(operation):
            given.settings(operation.options)
        reporter = progress(quiet)
        model = load_text_encoder(run, given) if operation.takes_encoders else load_model(run, given, task.name)
        if not quiet and given.get("quantize") not in (None, "none"):
            reporter.info(task.quantization_cost(model, read_record(run), reporter))
        chosen = given.values_of(option_names(operation))
        call = Call(operation, operation.pipeline(model), chosen, columns_of(operation, given), given, json, reporter)
        if job is not None:
            run_job(call, run, job, out)
        else:
            call.answer(inputs, out)

    verb.__doc__ = f"{summary or operation.summary}\n\n{_details(operation)}"
    return verb


def option_names(operation: Operation) -> list[str]:
    """Return the names of the options of an operation, whatever the family of the model."""
    schemas = (operation.options, *operation.more_options)
    return list(dict.fromkeys(name for schema in schemas for name in schema.model_fields))


def is_checked_alone(operation: Operation) -> bool:
    """Return whether the options can be checked without a checkpoint, whose own ones are their defaults."""
    return bool(getattr(operation.options, "is_checked_alone", True))


def operation_flags(operation: Operation) -> list[Flag]:
    """Return the options of an operation, those that name a file, its columns, and what all rows share."""
    specs = {each.name: each for each in fields_of(operation.row)}
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
    chosen = {
        flag.name: flag
        for schema in reversed((operation.options, *operation.more_options))
        for flag in flags_of(schema, shows_defaults=is_checked_alone(operation))
    }
    listed = [Flag(each.name, int, each.doc, bounds=(("ge", 1),)) for each in operation.views]
    ordered = [chosen[name] for name in option_names(operation)]
    return [Flag("file", Path, file, letter="-f"), *shared, *ordered, *listed, *columns]


def check_inputs(operation: Operation, inputs: list[str] | None, given: Given, out: Path | None) -> None:
    """Raise for contradicting arguments, before a model is loaded."""
    file, is_file = given["file"], is_rows(operation, given["file"])
    if inputs and file:
        raise ConfigError("Give either texts or --file, not both.")
    columns = [flag_name(f"{name}_column") for name in operation.inputs if given[f"{name}_column"]]
    if columns and not is_file and not given.get("files"):
        verb = "is" if len(columns) == 1 else "are"
        raise ConfigError(f"{' and '.join(columns)} {verb} for tables; give one with --file.")
    for name in operation.shared:
        if given[name] is not None and is_file:
            raise ConfigError(f"{flag_name(name)}: {file} has its own {name} in every row; leave one of them out.")
    for view in operation.views:
        if given[view.name] is not None and (len(inputs or []) != 1 or out is not None):
            raise ConfigError(f"{flag_name(view.name)} is for one text; give it after RUN, without --out.")
    check_out(out, operation.result.files)


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


def is_rows(operation: Operation, file: Path | None) -> bool:
    """Return whether a file holds rows of fields: a table, or a format of the task."""
    return has_suffix(file, (*ENDINGS, *operation.formats))


def _is_first_of_texts(operation: Operation, name: str) -> bool:
    """Return whether a field is the first of several texts."""
    specs = {each.name: each for each in fields_of(operation.row)}
    is_first = name == operation.inputs[0] and len(operation.inputs) > 1
    return is_first and not any(specs[each].is_list for each in operation.inputs[1:])


def _of(field: FieldSpec) -> str:
    doc = field.doc.rstrip(".") or f"the {field.name}"
    return doc[0].lower() + doc[1:]


def _metavar(operation: Operation) -> str:
    required = [each.name for each in fields_of(operation.row) if each.is_required and each.name in operation.inputs]
    return " ".join(required or operation.inputs[:1]).upper()


def _details(operation: Operation) -> str:
    """Return the second paragraph of a verb's help."""
    specs: dict[str, Any] = {each.name: each for each in fields_of(operation.row)}
    optional = [
        f" [TAB {name}]" for name in operation.inputs[1:] if not specs[name].is_required and not specs[name].is_list
    ]
    line = _metavar(operation).lower().replace(" ", " TAB ") + "".join(optional)
    columns = ", ".join(operation.result.columns)
    kept = "" if operation.result.is_numbered else "; blank lines are kept"
    return (
        f"An input line is {line}{kept}. A table comes back as CSV with its results in further columns ({columns}). "
        f"{operation.details}".rstrip()
    )
