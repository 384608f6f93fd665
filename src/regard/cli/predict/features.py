"""`regard features`: layers of a frozen encoder compared as features of a tagger."""

from dataclasses import replace

from regard.cli.options import JSON, QUIET, Given, Run, flags_of, options
from regard.cli.run_options import MACHINE
from regard.data.settings.examples import TagSource
from regard.models.base.settings import FeatureTaggerSettings
from regard.studies.settings import FeatureData, FeatureSettings


@options(
    QUIET,
    JSON,
    FeatureData,
    replace(flags_of(FeatureTaggerSettings, "kind", shows_defaults=True)[0], name="tagger"),
    *flags_of(FeatureTaggerSettings, "width", shows_defaults=True),
    *flags_of(FeatureSettings, "epochs", "seed", shows_defaults=True),
    *flags_of(TagSource, "word_column", "label_column", "max_rows"),
    *MACHINE,
)
def features(given: Given, run: Run) -> None:
    """Compare layers of a frozen encoder as features of a tagger.

    Each choice of layers trains a small tagger (Devlin et al., 2019, §5.3). One row per choice: F1 of spans (of tags
    where they mark none) on the validation set at the best epoch.
    """
    from regard.config.resolve import Layer, resolve
    from regard.studies.features import FeatureRow, chosen_ways, evaluate_features, feature_data

    ways = chosen_ways(given["layers"] or ())
    network = {{"tagger": "kind"}.get(key, key): each for key, each in given.values_of(("tagger", "width")).items()}
    layers = [Layer("the command line", {"tagger": network}), *given.layers(["epochs", "seed"])]
    settings = resolve(FeatureSettings, layers).settings
    data = feature_data(given["data"], given["valid_data"], given.values_of(TagSource.model_fields))
    rows = evaluate_features(run, data, ways, settings, device=given.device, progress=given.progress)
    last = f"{settings.tagger.kind} tagger, validation set; 95 % intervals by bootstrap over its sentences."
    given.show([vars(row) for row in rows], (FeatureRow.header, [row.cells() for row in rows], range(1, 5)), last)
