"""`regard evaluate`: scores of a model on its own test sets or on other data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import (
    BeamSize,
    Device,
    Iterations,
    Json,
    LabelColumn,
    Quiet,
    Run,
    TextColumn,
    Threads,
    column,
)
from regard.cli.run_options import label_columns

if TYPE_CHECKING:
    from regard.config.settings import Settings
    from regard.tasks.contract import AnyTask


def evaluate(
    run: Run,
    data: Annotated[
        str | None, typer.Option(help="Pairs or examples: a file (.gz too), hf:NAME, or miniature:SPLIT.")
    ] = None,
    source: Annotated[str | None, typer.Option(help="File with one source sentence per line (.gz too).")] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(help="File with the references, line by line (repeatable: further references)."),
    ] = None,
    source_column: Annotated[str | None, typer.Option(help="Column (name, or number from 0) or JSON field.")] = None,
    target_column: Annotated[
        list[str] | None, typer.Option(help="Column or field of the references (repeatable: further references).")
    ] = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    text: Annotated[
        list[str] | None, typer.Option(help="For models of running text: files or folders of text (repeatable).")
    ] = None,
    stride: Annotated[
        int | None,
        typer.Option(min=1, help="For language models: tokens between two windows (default: half a window)."),
    ] = None,
    analogies: Annotated[
        str | None, typer.Option(help="For word vectors: an analogy file with sections, such as questions-words.txt.")
    ] = None,
    similarities: Annotated[
        list[str] | None,
        typer.Option(help="For word vectors: word pairs with human ratings, such as WordSim-353 (repeatable)."),
    ] = None,
    candidates: Annotated[
        int | None,
        typer.Option(min=1, help="For word vectors: restrict analogy answers to the N most frequent words."),
    ] = None,
    papers: Annotated[
        bool, typer.Option("--papers", help="For translators: also BLEU lowercased and tokenized, as some papers do.")
    ] = False,
    test_set: Annotated[
        str | None, typer.Option("--test-set", help="Score on this one of the run's own test sets alone.")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(help="Compare with another run, a passport, or a file of outputs by a paired bootstrap test."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the score passport here too: a .json file, or a folder.")
    ] = None,
    beam_size: BeamSize = None,
    iterations: Iterations = None,
    device: Device = None,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Score a model on its own test sets or on other data: BLEU, perplexity, accuracy, F1 or correlations."""
    flags = dict(locals())
    from regard.cli.console import print_json, print_line, progress
    from regard.cli.metrics import print_comparison, print_scores
    from regard.runs.evaluate import evaluate
    from regard.runs.scores.model import task_of
    from regard.training.device.machine import use_threads

    use_threads(threads)
    task = task_of(run)
    evaluated = evaluate(
        run,
        source_of(task, run, flags),
        **options_of(task, run, flags),
        device=device or "auto",
        progress=progress(quiet),
        test_set=test_set,
        against=against,
        out=out,
    )
    if json:
        print_json({name: each.to_dict() for name, each in evaluated.items()})
        return
    print_scores(task, {name: each.to_dict() for name, each in evaluated.items()})
    files = [str(file) for each in evaluated.values() for file in each.files]
    if files:
        print_line(f"score passports: {', '.join(files)}")
    for each in evaluated.values():
        if each.comparison is not None:
            print_comparison(each.comparison)


def source_of(task: "AnyTask", run: str, flags: dict[str, Any]) -> "Settings | None":
    """Return the data that flags name as a source of the task; None: the run's own test sets."""
    from regard.config.resolve import Layer, resolve
    from regard.errors import ConfigError

    given = _source_values(flags)
    for name, (flag, value) in given.items():
        if name not in task.eval_source.model_fields:
            rest = f"whose data is given with {task.eval_flags}"
            if flag.endswith("-column"):
                rest = "whose data has no such column; leave it out"
            raise ConfigError(f"{flag} {_shown(value)}: {run} is {task.wording.noun}, {rest}.")
    values = {name: value for name, (_, value) in given.items()}
    if not values:
        return None
    table = str(values.get("path", ""))
    for flag, value in given.values():
        if flag.endswith("-column") and (not table or table.startswith("miniature:")):
            reason = f"{table} has none" if table else "there is no --data"
            raise ConfigError(
                f"{flag} {_shown(value)}: this names a column of the table that {run}, {task.wording.noun}, is "
                f"scored on, and {reason}; leave it out."
            )
    return resolve(task.eval_source, [Layer("the command line", values)]).settings


def _shown(value: Any) -> str:
    """Return the value of a flag as it was given."""
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _source_values(flags: dict[str, Any]) -> dict[str, tuple[str, Any]]:
    """Return the fields of a source that flags set, each with its flag and value."""
    files, columns = flags["target"] or [], [column(name) for name in flags["target_column"] or []]
    values = {
        "path": ("--data", flags["data"]),
        "source": ("--source", flags["source"]),
        "target": ("--target", files[0] if files else None),
        "references": ("--target", files[1:] or None),
        "source_column": ("--source-column", column(flags["source_column"]) if flags["source_column"] else None),
        "target_column": ("--target-column", columns[0] if columns else None),
        "reference_columns": ("--target-column", columns[1:] or None),
        "paths": ("--text", flags["text"] or None),
        "analogies": ("--analogies", flags["analogies"]),
        "similarities": ("--similarities", flags["similarities"] or None),
    }
    given = {name: (flag, value) for name, (flag, value) in values.items() if value is not None}
    labeled = label_columns(flags)
    flag_of = lambda name: "--label-column" if name == "label_column" else "--text-column"
    return given | {name: (flag_of(name), value) for name, value in labeled.items()}


def options_of(task: "AnyTask", run: str, flags: dict[str, Any]) -> dict[str, Any]:
    """Return the task's options of an evaluation that are given; a flag of another task is refused."""
    from regard import registry
    from regard.errors import ConfigError

    owners = {name: each for each in registry.tasks() for name in each.evaluation.model_fields}
    given = {name: flags[name] for name in owners if flags.get(name) not in (None, False)}
    for name, value in given.items():
        if name not in task.evaluation.model_fields:
            others = [each.wording.plural for each in registry.tasks() if name in each.evaluation.model_fields]
            shown = "" if value is True else f" {value}"
            raise ConfigError(
                f"--{name.replace('_', '-')}{shown}: for {' and '.join(others)}, and {run} is {task.wording.noun}; "
                f"leave it out."
            )
    return given
