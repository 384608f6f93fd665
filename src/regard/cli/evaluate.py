"""`regard evaluate`: figures of a run on its own test sets or on other data."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.options import (
    Beams,
    Device,
    Json,
    LabelColumn,
    Quiet,
    Run,
    TextColumn,
    Threads,
    column,
    label_columns,
)


def evaluate(
    run: Run,
    data: Annotated[
        str | None, typer.Option(help="A .tsv, .csv or .jsonl of pairs (.gz too), hf:NAME, miniature:SPLIT.")
    ] = None,
    source: Annotated[str | None, typer.Option(help="File with one source sentence a line (.gz too).")] = None,
    target: Annotated[
        list[str] | None, typer.Option(help="File with the references, line by line; give it again for further ones.")
    ] = None,
    source_column: Annotated[str | None, typer.Option(help="Column (name, or number from 0) or JSON field.")] = None,
    target_column: Annotated[
        list[str] | None, typer.Option(help="Column or field of the references; give it again for further ones.")
    ] = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    text: Annotated[
        list[str] | None, typer.Option(help="For a language model: files or folders of text; may be repeated.")
    ] = None,
    stride: Annotated[
        int | None, typer.Option(min=1, help="For a language model: tokens between two windows; unset: half of one.")
    ] = None,
    only: Annotated[str | None, typer.Option("--set", help="Only this one of the run's own test sets.")] = None,
    against: Annotated[
        str | None, typer.Option(help="Test the difference from another run, a passport, or a file of hypotheses.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the score passport here too: a .json file, or a folder.")
    ] = None,
    beams: Beams = None,
    device: Device = None,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Score a run: BLEU, chrF and TER with a score passport, the perplexity of a language model, or accuracy."""
    from regard.cli.console import print_json, print_line, progress
    from regard.cli.summary import print_comparison, print_label_scores, print_scores, print_text_scores
    from regard.config import Layer, resolve
    from regard.data.settings import PairSource
    from regard.data.text_settings import TextSource
    from regard.errors import ConfigError
    from regard.pipelines import read_task
    from regard.studies import measure, measure_labels, measure_text
    from regard.training import use_threads

    use_threads(threads)
    is_of_pairs = bool(source or target or source_column or target_column)
    if not is_of_pairs and (kind := read_task(run)) in ("classify", "choose"):
        if text or stride or only or against or out or beams:
            raise ConfigError(f"{run}: examples with labels are named with --data alone; leave the other flags out.")
        labelled = _labelled(kind, data, text_column, label_column)
        scores = measure_labels(run, labelled, device=device or "auto", progress=progress(quiet))
        print_json(scores) if json else print_label_scores(scores)
        return
    if text_column or label_column:
        raise ConfigError("--text-column and --label-column are for models that label or choose; leave them out.")
    place = None
    if data or source or target or source_column or target_column:
        files, columns = target or [], [column(name) for name in target_column or []]
        given = {
            "path": data,
            "source": source,
            "target": files[0] if files else None,
            "references": files[1:] or None,
            "source_column": column(source_column) if source_column else None,
            "target_column": columns[0] if columns else None,
            "reference_columns": columns[1:] or None,
        }
        wanted = {name: value for name, value in given.items() if value is not None}
        place = resolve(PairSource, [Layer("the command line", wanted)]).settings
    if place is None and read_task(run) == "language-model":
        words = TextSource(paths=tuple(text)) if text else None
        found = measure_text(run, words, stride=stride, device=device or "auto", progress=progress(quiet))
        figures = {name: each.figures() for name, each in found.items()}
        print_json(figures) if json else print_text_scores(figures)
        return
    if text or stride:
        raise ConfigError(f"--text and --stride are for language models, and {run} is none; leave them out.")
    outcomes = measure(
        run,
        place,
        only=only,
        against=against,
        out=out,
        device=device or "auto",
        progress=progress(quiet),
        beams=beams,
    )
    if json:
        print_json({outcome.evaluation.name: outcome.plain() for outcome in outcomes})
        return
    print_scores({outcome.evaluation.name: outcome.plain() for outcome in outcomes})
    files_written = [str(file) for outcome in outcomes for file in outcome.files]
    if files_written:
        print_line(f"score passports: {', '.join(files_written)}")
    for outcome in outcomes:
        if outcome.comparison is not None:
            print_comparison(outcome.comparison)


def _labelled(kind: str, data: str | None, text_column: list[str] | None, label_column: str | None) -> Any:
    """Return where other examples are, if they were named."""
    from regard.config import Layer, resolve
    from regard.data.label_settings import ChoiceSource, LabelSource
    from regard.errors import ConfigError

    columns = label_columns({"text_column": text_column, "label_column": label_column})
    if data is None:
        if columns:
            raise ConfigError("--text-column and --label-column are for other examples; give them with --data.")
        return None
    schema: Any = ChoiceSource if kind == "choose" else LabelSource
    return resolve(schema, [Layer("the command line", {"path": data} | columns)]).settings
