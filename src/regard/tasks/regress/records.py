"""Facts in the checkpoint of a regression model."""

from regard.checkpoint.facts import Number, Positive
from regard.tasks.finetune.records import TextFacts


class RegressFacts(TextFacts):
    """What a regression model's checkpoint stores beside the model: the units of its output too."""

    center: Number
    spread: Positive
