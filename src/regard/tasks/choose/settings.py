"""Settings of the task `choose`."""

from typing import Generic, Literal

from regard.data.settings.examples import ChoiceSource, ExampleData
from regard.tasks.finetune.settings import FineTuneSettings
from regard.tasks.settings import M


class ChooseSettings(FineTuneSettings[M], Generic[M]):
    """The settings of a run of a multiple-choice model."""

    task: Literal["choose"] = "choose"
    data: ExampleData[ChoiceSource]
