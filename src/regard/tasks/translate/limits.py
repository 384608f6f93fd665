"""The maximum sentence length that several translators have in common."""

from collections.abc import Sequence
from typing import Any

import torch

from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.families import build_model
from regard.tasks.translate.settings import PairRunSettings


def common_length(members: Sequence[PairRunSettings[ModelSettings]]) -> dict[str, int]:
    """Return the maximum length, as a setting, with which all members train on the same pairs."""
    limits = []
    for settings in members:
        with torch.device("meta"):
            model: Any = build_model(settings.model, Vocabularies(8, 8, settings.text.vocabularies == "shared"))
        limits += [settings.data.cleaning.max_tokens, model.max_positions or settings.data.cleaning.max_tokens]
    return {"data.cleaning.max_tokens": min(limits)}
