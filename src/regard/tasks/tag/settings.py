"""Settings of the task `tag`."""

from typing import Generic, Literal

from regard.data.settings.examples import ExampleData, TagSource
from regard.tasks.finetune.settings import FineTuneSettings
from regard.tasks.settings import M


class TagSettings(FineTuneSettings[M], Generic[M]):
    """The settings of a run of a tagger."""

    task: Literal["tag"] = "tag"
    data: ExampleData[TagSource]
