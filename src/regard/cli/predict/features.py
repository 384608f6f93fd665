"""`regard features`: what the layers of a frozen encoder know about words, as a table."""

from typing import Annotated, Any

import typer

from regard.cli.options import Device, Json, LabelColumn, Quiet, Run, Seed, Threads, column


def features(
    run: Run,
    data: Annotated[str, typer.Option(help="Words with tags: a .conll or .jsonl (.gz too), or hf:NAME.")],
    valid_data: Annotated[
        str | None, typer.Option(help="The same, to be measured on; unset: a part is set apart.")
    ] = None,
    layers: Annotated[
        list[str] | None,
        typer.Option(
            help="embeddings, last, second-to-last, sum-all, sum-last-4, concat-last-4; may be repeated; unset: all."
        ),
    ] = None,
    tagger: Annotated[str, typer.Option(help="bilstm, or linear: a layer that sees one word at a time.")] = "bilstm",
    width: Annotated[int, typer.Option(min=1, help="Width of the LSTM in each direction.")] = 128,
    epochs: Annotated[float, typer.Option(min=0.1, help="Passes over the sentences.")] = 10.0,
    word_column: Annotated[str | None, typer.Option(help="Column of the words; unset: guessed.")] = None,
    label_column: LabelColumn = None,
    count: Annotated[int | None, typer.Option(min=1, help="Take only the first so many sentences of --data.")] = None,
    seed: Seed = None,
    device: Device = None,
    threads: Threads = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare layers of an encoder as features: each way of taking them feeds a small tagger, which alone learns.

    A row for each: F1 of spans (of tags where they mark none) on the validation set after the best epoch.
    """
    flags = dict(locals())
    from regard.cli.console import print_json, print_line, print_table, progress
    from regard.config.resolve import Layer, resolve
    from regard.data.encoding.frozen_features import WAYS
    from regard.errors import ConfigError
    from regard.studies.features import FeatureSettings, measure_features
    from regard.training.device.machine import use_threads

    ways: Any = [each for word in layers or WAYS for each in word.split(",")]
    for way in ways:
        if way not in WAYS:
            raise ConfigError(f'--layers: "{way}" is not one of {", ".join(WAYS)}.')
    chosen = {"tagger": {"kind": tagger, "width": width}, "epochs": epochs, "seed": seed}
    given = {name: value for name, value in chosen.items() if value is not None}
    settings = resolve(FeatureSettings, [Layer("the command line", given)]).settings
    use_threads(threads)
    rows = measure_features(run, _places(flags), ways, settings, device=device or "auto", progress=progress(quiet))
    if json:
        print_json([vars(row) for row in rows])
        return
    print_table(
        ("layers", "width", "F1 [95 %]", "words right", "best after epoch"),
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
    print_line(f"A {tagger} tagger over each, on the validation set; intervals by bootstrap over its sentences.")


def _places(flags: dict[str, Any]) -> Any:
    """Return where the words are."""
    from regard.config.resolve import Layer, resolve
    from regard.data.settings.examples import ExampleData, TagSource

    columns = {name: flags[name] for name in ("word_column", "label_column")}
    named = {name: column(word) for name, word in columns.items() if word is not None}
    train = {"path": flags["data"], **named} | ({"max_rows": flags["count"]} if flags["count"] else {})
    valid = {"valid": {"path": flags["valid_data"], **named}} if flags["valid_data"] else {}
    return resolve(ExampleData[TagSource], [Layer("the command line", {"train": train, **valid})]).settings
