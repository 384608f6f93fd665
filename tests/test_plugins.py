"""The names that other packages may rely on."""

import regard
from regard import plugins


def test_the_names_for_other_packages_are_those_written_down():
    names = (
        "Bundle Check CheckpointError ConfigError Context DataError Doc EvalSet EvaluateOptions Evaluation Exported "
        "Exporter Family Field FieldSpec Finding HeadFacts HeadPipeline HeadTask InitFrom LabelFacts LoadOptions "
        "LossCurve Metric ModelSettings Operation Options Pipeline Prepared Preset Probe Progress RegardError Result "
        "RowTask RunError Settings Task TextFacts Trace Wording fields_of"
    )
    assert plugins.__all__ == names.split()
    assert plugins.Pipeline is regard.Pipeline and plugins.Settings is regard.Settings
