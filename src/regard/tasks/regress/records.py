"""Facts in the checkpoint of a regression model."""

from regard.checkpoint.facts import Number, Positive
from regard.tasks.finetune.records import TextFacts


class RegressFacts(TextFacts):
    """Facts of a regression model: a prediction is center + spread · output."""

    center: Number
    spread: Positive
