"""`regard evaluate`: figures of a run on its own test sets or on other data."""

from typing import Annotated

import typer

from regard.cli.options import Beams, Device, Json, Quiet, Run, Threads, columns


def evaluate(
    run: Run,
    data: Annotated[
        str | None, typer.Option(help="A .tsv, .csv or .jsonl of pairs (.gz too), hf:NAME, miniature:SPLIT.")
    ] = None,
    source: Annotated[str | None, typer.Option(help="File with one source sentence a line (.gz too).")] = None,
    target: Annotated[str | None, typer.Option(help="File with the references, line by line.")] = None,
    source_column: Annotated[str | None, typer.Option(help="Column (name, or number from 0) or JSON field.")] = None,
    target_column: Annotated[str | None, typer.Option(help="Column or field of the references.")] = None,
    beams: Beams = None,
    device: Device = None,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Score a run: BLEU, chrF and TER with signatures, loss, perplexity and speed."""
    from dataclasses import asdict

    from regard.cli.console import print_json, progress
    from regard.cli.summary import print_scores
    from regard.config import Layer, resolve
    from regard.data.settings import PairSource
    from regard.studies import evaluate_run
    from regard.training import use_threads

    use_threads(threads)
    place = None
    if data or source or target:
        given = {"path": data, "source": source, "target": target}
        wanted: dict[str, str | int] = {name: value for name, value in given.items() if value is not None}
        wanted |= columns(source_column, target_column)
        place = resolve(PairSource, [Layer("the command line", wanted)]).settings
    found = evaluate_run(run, place, device or "auto", progress(quiet), beams=beams)
    scores = {evaluation.name: asdict(evaluation) for evaluation in found}
    if json:
        print_json(scores)
    else:
        print_scores(scores)
