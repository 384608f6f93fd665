"""Model families, one short file each, behind common protocols."""

from regard.models.families import FAMILIES, build_model, count_parameters, family
from regard.models.interface import (
    Fixed,
    Memory,
    ModelSettings,
    Recordable,
    SequenceToSequence,
    State,
    Vocabularies,
)
from regard.models.presets import Preset, preset, presets

__all__ = [
    "FAMILIES",
    "Fixed",
    "Memory",
    "ModelSettings",
    "Preset",
    "Recordable",
    "SequenceToSequence",
    "State",
    "Vocabularies",
    "build_model",
    "count_parameters",
    "family",
    "preset",
    "presets",
]
