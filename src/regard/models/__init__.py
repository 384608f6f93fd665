"""Model families, one short file each, behind common protocols."""

from regard.models.families import (
    FAMILIES,
    KINDS,
    Kind,
    build_model,
    check_kind,
    count_parameters,
    family,
    presets_of,
)
from regard.models.headed import Headed, HeadSettings, take_over
from regard.models.interface import (
    IN_EVERY_FAMILY,
    ConditionalMasked,
    Fixed,
    LanguageModel,
    Layered,
    Memory,
    ModelSettings,
    Recordable,
    RecordableText,
    Scheduled,
    SequenceToSequence,
    State,
    TextEncoder,
    Vocabularies,
)
from regard.models.mask_predict import MaskPredictSettings
from regard.models.presets import Preset, preset, presets

__all__ = [
    "FAMILIES",
    "IN_EVERY_FAMILY",
    "KINDS",
    "ConditionalMasked",
    "Fixed",
    "HeadSettings",
    "Headed",
    "Kind",
    "LanguageModel",
    "Layered",
    "MaskPredictSettings",
    "Memory",
    "ModelSettings",
    "Preset",
    "Recordable",
    "RecordableText",
    "Scheduled",
    "SequenceToSequence",
    "State",
    "TextEncoder",
    "Vocabularies",
    "build_model",
    "check_kind",
    "count_parameters",
    "family",
    "preset",
    "presets",
    "presets_of",
    "take_over",
]
