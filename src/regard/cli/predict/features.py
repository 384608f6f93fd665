"""`regard features`: layers of a frozen encoder compared as features of a tagger."""

from dataclasses import replace

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
    from regard.cli.console import progress, show
    from regard.config.resolve import Layer, resolve
    from regard.studies.features import FeatureRow, chosen_ways, evaluate_features, feature_data
    from regard.training.device.machine import use_threads

    ways = chosen_ways(given["layers"] or ())
    network = {{"tagger": "kind"}.get(key, key): each for key, each in given.values_of(("tagger", "width")).items()}
    layers = [Layer("the command line", {"tagger": network}), *given.layers(["epochs", "seed"])]
    settings = resolve(FeatureSettings, layers).settings
    use_threads(given["threads"])
    data = feature_data(given["data"], given["valid_data"], given.values_of(TagSource.model_fields))
    rows = evaluate_features(run, data, ways, settings, device=given["device"] or "auto", progress=progress(quiet))
    last = f"{settings.tagger.kind} tagger, validation set; 95 % intervals by bootstrap over its sentences."
    show(json, [vars(row) for row in rows], (FeatureRow.header, [row.cells() for row in rows], range(1, 5)), last)
