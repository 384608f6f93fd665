"""Verbs made of operations of tasks, built-in or installed: rows in, a result per row out."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.inputs import ENDINGS, has_suffix
from regard.cli.options import JSON, OUT, QUIET, Flag, Given, Inputs, Run, Verb, flag_name, flags_of, options
from regard.cli.predict.answers import Call, check_out
from regard.cli.predict.jobs import check_job, run_job
from regard.cli.run_options import load_model, load_text_encoder, loading_flags
from regard.config.schema import FieldSpec
from regard.errors import ConfigError
from regard.pipelines.settings import JobSettings
from regard.tasks.contract import AnyTask
from regard.tasks.declarations import Operation

TABLES, JOBS = "Input tables", "Batch jobs"
INPUTS = "Inputs (default: standard input, one per line)."


def operation_verb(task: AnyTask, operation: Operation, summary: str = "") -> Verb:
    """Return the verb of an operation; `summary` is the first paragraph of its help."""

    flags = [*operation_flags(operation), *flags_of(JobSettings, panel=JOBS), *loading_flags(task.loads)]

    @options(OUT, QUIET, JSON, *flags)
    def verb(
        given: Given,
        run: Run,
        inputs: Annotated[list[str] | None, typer.Argument(metavar=_metavar(operation), help=INPUTS)] = None,
    ) -> None:
        from regard.runs.store.folder import read_record

        out: Path | None = given["out"]
        job = check_job(operation, inputs, given, out)
        check_inputs(operation, inputs, given, None if job else out)
        if is_checked_alone(operation):
            given.settings(operation.options)
        model = load_text_encoder(run, given) if operation.takes_encoders else load_model(run, given, task.name)
        if not given["quiet"] and given.get("quantize") not in (None, "none"):
            given.progress.info(task.quantization_cost(model, read_record(run), given.progress))
        call = Call(operation, operation.pipeline(model), given)
        if job is not None and out is not None:
            run_job(call, run, job, out)
        else:
            call.answer(inputs, out)

    verb.__doc__ = f"{summary or operation.summary}\n\n{_details(operation)}"
    return verb


def predict(run: Run, inputs: Inputs = None) -> None:
    """Use any model by its task; `regard predict RUN --help` shows its options.

    RUN comes first; everything after it goes to the verb of the model's task, whose options and output it has.
    """
    raise ConfigError(f"{run}: name the model right after predict, then its inputs and options.")


def is_checked_alone(operation: Operation) -> bool:
    """Return whether the options can be checked without a checkpoint, whose own ones are their defaults."""
    return bool(getattr(operation.options, "is_checked_alone", True))


def operation_flags(operation: Operation) -> list[Flag]:
    """Return the options of an operation, those that name a file, its columns, and what all rows share."""
    specs = operation.fields
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
    ordered = [chosen[name] for name in operation.option_names]
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
    for name in given.values_of(operation.shared):
        if is_file:
            raise ConfigError(f"{flag_name(name)}: {file} has its own {name} in every row; leave one of them out.")
    for view in operation.views:
        if given[view.name] is not None and (len(inputs or []) != 1 or out is not None):
            raise ConfigError(f"{flag_name(view.name)} is for one text; give it after RUN, without --out.")
    check_out(out, operation.result.files)


def is_rows(operation: Operation, file: Path | None) -> bool:
    """Return whether a file holds rows of fields: a table, or a format of the task."""
    return has_suffix(file, (*ENDINGS, *operation.formats))


def _is_first_of_texts(operation: Operation, name: str) -> bool:
    """Return whether a field is the first of several texts."""
    is_first = name == operation.inputs[0] and len(operation.inputs) > 1
    return is_first and not any(operation.fields[each].is_list for each in operation.inputs[1:])


def _of(field: FieldSpec) -> str:
    doc = field.doc.rstrip(".") or f"the {field.name}"
    return doc[0].lower() + doc[1:]


def _metavar(operation: Operation) -> str:
    required = [name for name in operation.inputs if operation.fields[name].is_required]
    return " ".join(required or operation.inputs[:1]).upper()


def _details(operation: Operation) -> str:
    """Return the second paragraph of a verb's help."""
    specs = [operation.fields[name] for name in operation.inputs[1:]]
    optional = [f" [TAB {each.name}]" for each in specs if not each.is_required and not each.is_list]
    line = _metavar(operation).lower().replace(" ", " TAB ") + "".join(optional)
    columns = ", ".join(operation.result.columns)
    kept = "" if operation.result.is_numbered else "; blank lines are kept"
    return (
        f"An input line is {line}{kept}. A table comes back as CSV with its results in further columns ({columns}). "
        f"{operation.details}".rstrip()
    )
