"""Settings that the runs on running text have in common."""

from typing import Generic

from pydantic import Field

from regard.config.settings import Settings
from regard.data.settings.text import TextData
from regard.tasks.settings import M, RunSettings
from regard.text.settings import CorpusTextSettings
from regard.training.settings import TrainSettings

CONTINUED_RATE = 5e-5
"""Peak rate of continued pretraining: half of BERT's own (Devlin et al., 2019, A.2), as updates are smaller here."""


class TextValidationSettings(Settings):
    """Validation during training."""

    tokens: int = Field(200_000, ge=1)
    """Validation tokens evaluated each time, from the beginning of the text."""


class TextRunSettings(RunSettings[M], Generic[M]):
    """A run on running text, with one tokenizer for all of it."""

    data: TextData
    text: CorpusTextSettings = CorpusTextSettings()
    train: TrainSettings = TrainSettings()
    validation: TextValidationSettings = TextValidationSettings()
