"""A run of a multiple-choice model as one frozen value."""

from typing import Generic, Literal

from regard.data.settings.examples import ChoiceSource, ExampleData
from regard.tasks.finetune.settings import FineTuneSettings
from regard.tasks.settings import M


class ChooseSettings(FineTuneSettings[M], Generic[M]):
    """Everything about the run of a multiple-choice model."""

    task: Literal["choose"] = "choose"
    data: ExampleData[ChoiceSource]
