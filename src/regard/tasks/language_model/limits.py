"""The context window that several language models all take."""

from collections.abc import Sequence
from typing import Any

import torch

from regard.models.base.settings import ModelSettings, Vocabularies
from regard.models.families import build_model
from regard.tasks.language_model.evaluate import DEFAULT_WINDOW
from regard.tasks.language_model.settings import LanguageSettings


def common_window(members: Sequence[LanguageSettings[ModelSettings]]) -> dict[str, int]:
    """Return the setting with which all members are trained on the same windows."""
    windows = []
    for settings in members:
        with torch.device("meta"):
            model: Any = build_model(settings.model, Vocabularies(8, 8, is_shared=True))
        bound = model.max_positions
        windows.append(min(settings.window or bound or DEFAULT_WINDOW, bound or settings.window or DEFAULT_WINDOW))
    return {"window": min(windows)}
