"""`regard features`: layers of a frozen encoder compared as features of a tagger."""

from typing import Annotated, Any

import typer

from regard.cli.options import Device, Json, LabelColumn, Quiet, Run, Seed, Threads, column


def features(
    run: Run,
    data: Annotated[str, typer.Option(help="Tagged words: a .conll or .jsonl (.gz too), or hf:NAME.")],
    valid_data: Annotated[
        str | None, typer.Option(help="Validation data, in the same formats (default: held out from --data).")
    ] = None,
    layers: Annotated[
        list[str] | None,
        typer.Option(
            help="Layers to compare: embeddings, last, second-to-last, sum-all, sum-last-4, concat-last-4 "
            "(default: all); repeatable."
        ),
    ] = None,
    tagger: Annotated[
        str, typer.Option(help="Tagger over the features: bilstm, or linear (each word on its own).")
    ] = "bilstm",
    width: Annotated[int, typer.Option(min=1, help="Width of the BiLSTM per direction.")] = 128,
    epochs: Annotated[float, typer.Option(min=0.1, help="Training epochs of the tagger.")] = 10.0,
    word_column: Annotated[
        str | None, typer.Option(help="Word column: its name, or index from 0 (default: guessed).")
    ] = None,
    label_column: LabelColumn = None,
    count: Annotated[int | None, typer.Option(min=1, help="Maximum number of sentences of --data.")] = None,
    seed: Seed = None,
    device: Device = None,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare layers of a frozen encoder as features (Devlin et al., 2019, §5.3): each trains a small tagger.

    One row per choice of layers: F1 of spans (of tags where they mark none) on the validation set at the best epoch.
    """
    flags = dict(locals())
    from regard.cli.console import print_json, print_line, print_table, progress
    from regard.config.resolve import Layer, resolve
    from regard.data.encoding.frozen_features import WAYS
    from regard.errors import ConfigError
    from regard.studies.features import FeatureSettings, evaluate_features
    from regard.training.device.machine import use_threads

    selections: Any = [each for word in layers or WAYS for each in word.split(",")]
    for selection in selections:
        if selection not in WAYS:
            raise ConfigError(f'--layers: "{selection}" is not one of {", ".join(WAYS)}.')
    values = {"tagger": {"kind": tagger, "width": width}, "epochs": epochs, "seed": seed}
    given = {name: value for name, value in values.items() if value is not None}
    settings = resolve(FeatureSettings, [Layer("the command line", given)]).settings
    use_threads(threads)
    sources = _sources(flags)
    rows = evaluate_features(run, sources, selections, settings, device=device or "auto", progress=progress(quiet))
    if json:
        print_json([vars(row) for row in rows])
        return
    print_table(
        ("layers", "width", "F1 [95 %]", "accuracy", "best epoch"),
        [
            (
                row.layers,
                f"{row.width:,}",
                f"{row.f1:.4f} [{row.interval[0]:.4f}, {row.interval[1]:.4f}]",
                f"{row.accuracy:.4f}",
                f"{row.epoch:g}",
            )
            for row in rows
        ],
        right=range(1, 5),
    )
    print_line(f"{tagger} tagger, validation set; 95 % intervals by bootstrap over its sentences.")


def _sources(flags: dict[str, Any]) -> Any:
    """Return the sources of training and validation data as settings."""
    from regard.config.resolve import Layer, resolve
    from regard.data.settings.examples import ExampleData, TagSource

    columns = {name: flags[name] for name in ("word_column", "label_column")}
    named = {name: column(word) for name, word in columns.items() if word is not None}
    train = {"path": flags["data"], **named} | ({"max_rows": flags["count"]} if flags["count"] else {})
    valid = {"valid": {"path": flags["valid_data"], **named}} if flags["valid_data"] else {}
    return resolve(ExampleData[TagSource], [Layer("the command line", {"train": train, **valid})]).settings
