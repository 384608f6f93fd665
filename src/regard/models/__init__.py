"""Model families, one short file each, behind common protocols."""

from regard.models.families import FAMILIES, build_model, count_parameters, family
from regard.models.interface import (
    IN_EVERY_FAMILY,
    Fixed,
    Memory,
    ModelSettings,
    Recordable,
    Scheduled,
    SequenceToSequence,
    State,
    Vocabularies,
)
from regard.models.presets import Preset, preset, presets

__all__ = [
    "FAMILIES",
    "IN_EVERY_FAMILY",
    "Fixed",
    "Memory",
    "ModelSettings",
    "Preset",
    "Recordable",
    "Scheduled",
    "SequenceToSequence",
    "State",
    "Vocabularies",
    "build_model",
    "count_parameters",
    "family",
    "preset",
    "presets",
]
