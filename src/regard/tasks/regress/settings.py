"""Settings of the task `regress`."""

from typing import Generic, Literal

from regard.data.settings.examples import ExampleData, LabelSource, Pairs
from regard.tasks.finetune.settings import FineTuneSettings
from regard.tasks.settings import M


class RegressSettings(FineTuneSettings[M], Generic[M]):
    """The settings of a run of a regression model."""

    task: Literal["regress"] = "regress"
    data: ExampleData[LabelSource]
    pair_encoding: Pairs | None = None
    """Encoding of text pairs. cross-encoder: as one sequence; both-orders: in both orders; bi-encoder: each text
    alone; the prediction follows from their cosine (default: bi-encoder where the pretrained model embeds texts,
    cross-encoder otherwise)."""
