"""A run of ELMo as one frozen value."""

from typing import Generic, Literal

from pydantic import Field, model_validator

from regard.config.settings import Settings
from regard.data.settings.text import TextData
from regard.tasks.settings import M, RunSettings
from regard.training.settings import TrainSettings


class OutputVocabularySettings(Settings):
    """The output vocabulary: the words that the softmax covers."""

    words: int = Field(50_000, ge=8, le=2_000_000)
    """Maximum size of the output vocabulary, the most frequent words; any word can be an input."""
    min_frequency: int = Field(2, ge=1)
    """Minimum count of a word of the output vocabulary."""
    lowercase: bool = False
    """Lowercase the text."""


class WordValidationSettings(Settings):
    """Validation during training."""

    words: int = Field(20_000, ge=1)
    """Words of the validation text evaluated each time, about, from its beginning."""


class ElmoRunSettings(RunSettings[M], Generic[M]):
    """Everything about the run of an ELMo; `model` takes the settings of its family."""

    task: Literal["elmo"] = "elmo"
    data: TextData
    text: OutputVocabularySettings = OutputVocabularySettings()
    train: TrainSettings = TrainSettings()
    window: int = Field(64, ge=4)
    """Training window in words, about: as many bytes as that many words of average length have."""
    validation: WordValidationSettings = WordValidationSettings()

    @model_validator(mode="after")
    def _parts_fit(self) -> "ElmoRunSettings[M]":
        if self.init_from is not None and self.text != OutputVocabularySettings():
            raise ValueError(
                f'text: the vocabulary comes from the pretrained model "{self.init_from}"; leave these settings out.'
            )
        return self
