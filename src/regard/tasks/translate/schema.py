"""The schema of a translation run for a model of some family."""

from regard.models.base.settings import ModelSettings
from regard.tasks.translate.settings import MaskedTranslateSettings, PairRunSettings, TranslateSettings


def translate_settings(model: type[ModelSettings]) -> type[PairRunSettings[ModelSettings]]:
    """Return the schema of a translation run for a model of some family."""
    from regard.models.transformer.mask_predict import MaskPredictSettings

    if issubclass(model, MaskPredictSettings):
        return MaskedTranslateSettings[model]  # type: ignore[valid-type]
    return TranslateSettings[model]  # type: ignore[valid-type]
