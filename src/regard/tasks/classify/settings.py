"""Settings of the task `classify`."""

from typing import Generic, Literal

from regard.data.settings.examples import ExampleData, LabelSource
from regard.tasks.finetune.settings import FineTuneSettings
from regard.tasks.settings import M


class ClassifySettings(FineTuneSettings[M], Generic[M]):
    """The settings of a run of a classifier."""

    task: Literal["classify"] = "classify"
    data: ExampleData[LabelSource]
    pair_encoding: Literal["cross-encoder", "both-orders"] = "cross-encoder"
    """Encoding of text pairs. cross-encoder: as one sequence; both-orders: in both orders, for symmetric pairs."""
