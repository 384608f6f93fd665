"""`regard evaluate`: figures of a run on its own test sets or on other data."""

from pathlib import Path
from typing import Annotated, Any

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
    label_columns,
)


def evaluate(
    run: Run,
    data: Annotated[
        str | None, typer.Option(help="Pairs or examples in a file (.gz too), hf:NAME, or miniature:SPLIT.")
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
    test_set: Annotated[
        str | None, typer.Option("--test-set", help="Only this one of the run's own test sets.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="Test the difference from another run, a passport, or a file of hypotheses.")
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
    """Score a run: BLEU, perplexity, accuracy, F1 or correlations, with score passports where they are needed."""
    flags = dict(locals())
    from regard.errors import ConfigError
    from regard.tasks.load import read_task
    from regard.training.device.machine import use_threads

    use_threads(threads)
    place = _pairs(flags) if source or target or source_column or target_column else None
    task = "translate" if place is not None else read_task(run)
    if task in ("answer", "choose", "classify", "regress", "tag"):
        _evaluate_labels(task, flags)
        return
    if text_column or label_column:
        raise ConfigError("--text-column and --label-column are for models that label or choose; leave them out.")
    if task == "language-model":
        if data is not None:
            raise ConfigError(f"--data {data}: {run} is a language model; give the text to score it on with --text.")
        _evaluate_text(flags)
        return
    if task == "masked-language-model":
        _evaluate_masked(flags)
        return
    if task == "elmo":
        _evaluate_elmo(flags)
        return
    if text or stride:
        raise ConfigError(f"--text and --stride are for language models, and {run} is none; leave them out.")
    _evaluate_pairs(flags, _pairs(flags) if place is None and data else place)


def _pairs(flags: dict[str, Any]) -> Any:
    """Return where other pairs are."""
    from regard.config.resolve import Layer, resolve
    from regard.data.settings.pairs import PairSource

    files, columns = flags["target"] or [], [column(name) for name in flags["target_column"] or []]
    given = {
        "path": flags["data"],
        "source": flags["source"],
        "target": files[0] if files else None,
        "references": files[1:] or None,
        "source_column": column(flags["source_column"]) if flags["source_column"] else None,
        "target_column": columns[0] if columns else None,
        "reference_columns": columns[1:] or None,
    }
    wanted = {name: value for name, value in given.items() if value is not None}
    return resolve(PairSource, [Layer("the command line", wanted)]).settings


def _evaluate_pairs(flags: dict[str, Any], place: Any) -> None:
    from regard.cli.console import print_json, print_line, progress
    from regard.cli.metrics import print_comparison, print_scores
    from regard.runs.scores.evaluate import evaluate_sets

    outcomes = evaluate_sets(
        flags["run"],
        place,
        device=flags["device"] or "auto",
        progress=progress(flags["quiet"]),
        **{name: flags[name] for name in ("test_set", "against", "out", "beam_size", "iterations")},
    )
    figures = {outcome.evaluation.name: outcome.plain() for outcome in outcomes}
    if flags["json"]:
        print_json(figures)
        return
    print_scores(figures)
    files = [str(file) for outcome in outcomes for file in outcome.files]
    if files:
        print_line(f"score passports: {', '.join(files)}")
    for outcome in outcomes:
        if outcome.comparison is not None:
            print_comparison(outcome.comparison)


def _evaluate_text(flags: dict[str, Any]) -> None:
    from regard.cli.console import print_json, progress
    from regard.cli.metrics import print_text_scores
    from regard.data.settings.text import TextSource
    from regard.tasks.language_model.evaluate import measure_text

    place = TextSource(paths=tuple(flags["text"])) if flags["text"] else None
    device, reporter = flags["device"] or "auto", progress(flags["quiet"])
    found = measure_text(flags["run"], place, stride=flags["stride"], device=device, progress=reporter)
    figures = {name: each.figures() for name, each in found.items()}
    print_json(figures) if flags["json"] else print_text_scores(figures)


def _evaluate_masked(flags: dict[str, Any]) -> None:
    from regard.cli.console import print_json, progress
    from regard.cli.metrics import print_masked_scores
    from regard.data.settings.text import MarkedSource
    from regard.errors import ConfigError
    from regard.tasks.masked_lm.evaluate import measure_masked

    run = flags["run"]
    if any(flags[name] for name in ("data", "stride", "test_set", "against", "out", "beam_size")):
        raise ConfigError(f"{run}: text to mask words of is named with --text alone; leave the other flags out.")
    place = MarkedSource(paths=tuple(flags["text"])) if flags["text"] else None
    device, reporter = flags["device"] or "auto", progress(flags["quiet"])
    found = measure_masked(run, place, device=device, progress=reporter)
    figures = {name: each.figures() for name, each in found.items()}
    print_json(figures) if flags["json"] else print_masked_scores(figures)


def _evaluate_elmo(flags: dict[str, Any]) -> None:
    from regard.cli.console import print_json, progress
    from regard.cli.metrics import print_elmo_scores
    from regard.data.settings.text import TextSource
    from regard.errors import ConfigError
    from regard.tasks.elmo.evaluate import measure_elmo

    run = flags["run"]
    if any(flags[name] for name in ("data", "stride", "test_set", "against", "out", "beam_size", "iterations")):
        raise ConfigError(f"{run}: text for an ELMo is named with --text alone; leave the other flags out.")
    place = TextSource(paths=tuple(flags["text"])) if flags["text"] else None
    found = measure_elmo(run, place, device=flags["device"] or "auto", progress=progress(flags["quiet"]))
    figures = {name: each.figures() for name, each in found.items()}
    print_json(figures) if flags["json"] else print_elmo_scores(figures)


def _evaluate_labels(task: str, flags: dict[str, Any]) -> None:
    from regard.cli.console import print_json, print_line, progress
    from regard.cli.metrics import print_comparison, print_label_scores
    from regard.errors import ConfigError
    from regard.tasks.finetune.evaluate import measure_labels

    run = flags["run"]
    if any(flags[name] for name in ("text", "stride", "beam_size", "iterations")):
        raise ConfigError(f"{run}: examples with labels are named with --data alone; leave the other flags out.")
    place = _labeled(task, flags["data"], flags["text_column"], flags["label_column"])
    found = measure_labels(
        run,
        place,
        device=flags["device"] or "auto",
        progress=progress(flags["quiet"]),
        **{name: flags[name] for name in ("test_set", "against", "out")},
    )
    if flags["json"]:
        print_json({name: each.plain() for name, each in found.items()})
        return
    print_label_scores({name: each.figures for name, each in found.items()})
    files = [str(file) for each in found.values() for file in each.files]
    if files:
        print_line(f"score passports: {', '.join(files)}")
    for each in found.values():
        if each.comparison is not None:
            print_comparison(each.comparison)


def _labeled(task: str, data: str | None, text_column: list[str] | None, label_column: str | None) -> Any:
    """Return where other examples are, if they were named."""
    from regard.config.resolve import Layer, resolve
    from regard.errors import ConfigError
    from regard.tasks.finetune.shapes import SOURCES

    columns = label_columns({"text_column": text_column, "label_column": label_column})
    if data is None:
        if columns:
            raise ConfigError("--text-column and --label-column are for other examples; give them with --data.")
        return None
    return resolve(SOURCES[task], [Layer("the command line", {"path": data} | columns)]).settings
