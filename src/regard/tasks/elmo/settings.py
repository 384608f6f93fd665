"""A run of ELMo as one frozen value."""

from typing import Generic, Literal

from pydantic import Field, model_validator

from regard.config.settings import Settings
from regard.data.settings.text import TextData
from regard.tasks.translate.settings import M, check_figure
from regard.training.settings import MachineSettings, TrainSettings


class SpelledTextSettings(Settings):
    """What is a word, and which of them can be said."""

    words: int = Field(50_000, ge=8, le=2_000_000)
    """Words that can be said at most, the most frequent ones; all words can be read."""
    min_frequency: int = Field(2, ge=1)
    """How often a word must occur to be one that can be said."""
    lowercase: bool = False
    """Whether capital letters are folded before anything else."""


class WordValidationSettings(Settings):
    """What is measured while training."""

    words: int = Field(20_000, ge=1)
    """Words of the validation text looked at each time, about, from the beginning on."""


class ElmoRunSettings(Settings, Generic[M]):
    """Everything about the run of an ELMo; `model` takes the settings of its family."""

    task: Literal["elmo"] = "elmo"
    about: str = ""
    """What the recipe is for, in one line."""
    seed: int = Field(1, ge=0, lt=2**32)
    """Every random choice follows from it."""
    init_from: str | None = None
    """What to go on with: the run or a checkpoint of an ELMo; unset: a model that knows nothing yet."""
    data: TextData
    text: SpelledTextSettings = SpelledTextSettings()
    window: int = Field(64, ge=4)
    """Words read at once, about: as many as that many words of usual length take up."""
    model: M
    train: TrainSettings = TrainSettings()
    validation: WordValidationSettings = WordValidationSettings()
    machine: MachineSettings = MachineSettings()
    preflight: bool = True
    """Whether what is odd about the text is said before training."""

    @model_validator(mode="after")
    def _parts_fit(self) -> "ElmoRunSettings[M]":
        check_figure(self.train, "loss")
        if self.init_from is not None and self.text != SpelledTextSettings():
            raise ValueError(f'text: the words come from the start "{self.init_from}"; leave these settings out.')
        return self
