"""Outputs of a model to a loss: named parts, each a sum, a count and a weight."""

from regard.objectives.cross_entropy import cross_entropy
from regard.objectives.labels import LabelObjective, LabelObjectiveSettings
from regard.objectives.language import LanguageObjective, LanguageObjectiveSettings
from regard.objectives.loss import Loss, Objective, Part, scaled_total
from regard.objectives.masked import MaskedObjective, MaskedObjectiveSettings
from regard.objectives.masked_translation import MaskedTranslationObjective, MaskedTranslationObjectiveSettings
from regard.objectives.translation import ObjectiveSettings, TranslationObjective
from regard.objectives.two_way import TwoWayObjective

__all__ = [
    "LabelObjective",
    "LabelObjectiveSettings",
    "LanguageObjective",
    "LanguageObjectiveSettings",
    "Loss",
    "MaskedObjective",
    "MaskedObjectiveSettings",
    "MaskedTranslationObjective",
    "MaskedTranslationObjectiveSettings",
    "Objective",
    "ObjectiveSettings",
    "Part",
    "TranslationObjective",
    "TwoWayObjective",
    "cross_entropy",
    "scaled_total",
]
