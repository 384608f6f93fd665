"""`regard choose`: a context and choices in, the likeliest choice out."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.options import Device, Json, Precision, Quiet, Run, Threads


def choose(
    run: Run,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[CONTEXT CHOICE CHOICE...]", help="A context and its choices.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", help="A .jsonl, .csv or .tsv (.gz too) with contexts and their choices."),
    ] = None,
    device: Device = None,
    precision: Precision = "fp32",
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Choose what follows a context: number (from 0), probability and text of the likeliest choice, in order."""
    from regard.cli.console import print_json, print_line, progress
    from regard.data.choices import read_choices
    from regard.data.label_settings import ChoiceSource
    from regard.errors import ConfigError
    from regard.pipelines import load_chooser
    from regard.training import use_threads

    if bool(words) == (file is not None):
        raise ConfigError("Give either a context and its choices or --file.")
    given: list[Any] = [(words[0], words[1:])] if words else []
    use_threads(threads)
    chooser = load_chooser(run, device or "auto", precision=precision)
    reporter = progress(quiet)
    if file is not None:
        place = ChoiceSource(path=str(file))
        given = [(each.context, each.choices) for each in read_choices(place, reporter, has_labels=False)]
    for answer in chooser(given, progress=reporter):
        if json:
            print_json(vars(answer) | {"choice": answer.choice, "probability": answer.probability}, indent=None)
        else:
            print_line(f"{answer.number}\t{answer.probability:.4f}\t{' '.join(answer.choice.split())}")
