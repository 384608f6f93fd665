"""A run in which words are masked, as one frozen value."""

from typing import Generic, Literal

from pydantic import Field, model_validator

from regard.config.settings import Settings
from regard.data.feeds.masking import MaskingSettings
from regard.data.settings.text import MarkedTextData, SequenceSettings
from regard.objectives.masked_lm import MaskedObjectiveSettings
from regard.tasks.translate.settings import M, TextValidationSettings, check_figure
from regard.text.settings import MaskedTextSettings
from regard.training.settings import MachineSettings, TrainSettings


class MaskedSettings(Settings, Generic[M]):
    """Everything about the run of a masked language model; `model` takes the settings of its family.

    Where the model has no head for next sentences (model.next_sentence_head), there are no pairs: sequences are
    filled with sentences, across documents.
    """

    task: Literal["masked-language-model"] = "masked-language-model"
    about: str = ""
    """What the recipe is for, in one line."""
    seed: int = Field(1, ge=0, lt=2**32)
    """Every random choice follows from it."""
    init_from: str | None = None
    """What to go on with: an encoder's run or checkpoint, or hf:DIR; unset: a model that knows nothing yet."""
    data: MarkedTextData
    text: MaskedTextSettings = MaskedTextSettings()
    sequences: SequenceSettings = SequenceSettings()
    masking: MaskingSettings = MaskingSettings()
    model: M
    objective: MaskedObjectiveSettings = MaskedObjectiveSettings()
    train: TrainSettings = TrainSettings()
    validation: TextValidationSettings = TextValidationSettings()
    machine: MachineSettings = MachineSettings()
    preflight: bool = True
    """Whether the data is looked over before training, and what is odd about it said."""

    @model_validator(mode="after")
    def _parts_fit(self) -> "MaskedSettings[M]":
        check_figure(self.train, "loss")
        if self.init_from is not None and self.text != MaskedTextSettings():
            raise ValueError(
                f'text: the tokenizer comes from the start "{self.init_from}"; leave these settings out.'
            )
        return self
