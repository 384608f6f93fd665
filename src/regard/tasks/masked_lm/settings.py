"""A run of a masked language model as one frozen value."""

from typing import Generic, Literal

from pydantic import model_validator

from regard.data.settings.masking import MaskingSettings
from regard.data.settings.text import MaskedTextData, SequenceSettings
from regard.objectives.settings import MaskedObjectiveSettings
from regard.tasks.settings import M
from regard.tasks.text.settings import TextRunSettings
from regard.text.settings import MaskedTextSettings


class MaskedSettings(TextRunSettings[M], Generic[M]):
    """Everything about the run of a masked language model; `model` takes the settings of its family.

    Without a next-sentence head (model.next_sentence_head) there are no pairs: sequences are filled with sentences,
    across documents.
    """

    task: Literal["masked-language-model"] = "masked-language-model"
    data: MaskedTextData
    text: MaskedTextSettings = MaskedTextSettings()
    sequences: SequenceSettings = SequenceSettings()
    masking: MaskingSettings = MaskingSettings()
    objective: MaskedObjectiveSettings = MaskedObjectiveSettings()

    @model_validator(mode="after")
    def _parts_fit(self) -> "MaskedSettings[M]":
        if self.init_from is not None and self.text != MaskedTextSettings():
            raise ValueError(
                f'text: the tokenizer comes from the pretrained model "{self.init_from}"; leave these settings out.'
            )
        return self
