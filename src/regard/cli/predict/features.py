"""`regard features`: layers of a frozen encoder compared as features of a tagger."""

from dataclasses import replace
from typing import Any

from regard.cli.options import NOTHING, Given, Json, Quiet, Run, flags_of, options
from regard.cli.run_options import MACHINE
from regard.data.settings.examples import TagSource
from regard.models.base.settings import FeatureTaggerSettings
from regard.studies.settings import FeatureData, FeatureSettings


@options(
    *flags_of(FeatureData),
    replace(flags_of(FeatureTaggerSettings, "kind", shows_defaults=True)[0], name="tagger"),
    *flags_of(FeatureTaggerSettings, "width", shows_defaults=True),
    *flags_of(FeatureSettings, "epochs", "seed", shows_defaults=True),
    *flags_of(TagSource, "word_column", "label_column", "max_rows"),
    *MACHINE,
)
def features(
    run: Run,
    given: Given = NOTHING,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare layers of a frozen encoder as features of a tagger.

    Each choice of layers trains a small tagger (Devlin et al., 2019, §5.3). One row per choice: F1 of spans (of tags
    where they mark none) on the validation set at the best epoch.
    """
    from regard.cli.console import print_json, print_line, print_table, progress
    from regard.config.resolve import Layer, resolve
    from regard.data.encoding.frozen_features import WAYS
    from regard.errors import ConfigError
    from regard.studies.features import evaluate_features
    from regard.training.device.machine import use_threads

    selections: Any = [each for word in given["layers"] or WAYS for each in word.split(",")]
    for selection in selections:
        if selection not in WAYS:
            raise ConfigError(f'--layers: "{selection}" is not one of {", ".join(WAYS)}.')
    network = {"kind": given["tagger"], "width": given["width"]}
    tagger = {"tagger": {name: value for name, value in network.items() if value is not None}}
    layers = [Layer("the command line", tagger), *given.layers(["epochs", "seed"])]
    settings = resolve(FeatureSettings, layers).settings
    use_threads(given["threads"])
    sources = _sources(given["data"], given["valid_data"], given.values_of(TagSource.model_fields))
    rows = evaluate_features(
        run, sources, selections, settings, device=given["device"] or "auto", progress=progress(quiet)
    )
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
    print_line(f"{settings.tagger.kind} tagger, validation set; 95 % intervals by bootstrap over its sentences.")


def _sources(data: str, valid_data: str | None, fields: dict[str, Any]) -> Any:
    """Return the sources of training and validation data as settings."""
    from regard.config.resolve import Layer, resolve
    from regard.data.settings.examples import ExampleData

    columns = {name: value for name, value in fields.items() if name != "max_rows"}
    valid = {"valid": {"path": valid_data, **columns}} if valid_data else {}
    values = {"train": {"path": data, **fields}, **valid}
    return resolve(ExampleData[TagSource], [Layer("the command line", values)]).settings
