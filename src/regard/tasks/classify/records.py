"""Facts in the checkpoint of a classifier."""

from regard.tasks.finetune.records import LabelFacts, TextFacts


class ClassifyFacts(TextFacts, LabelFacts):
    """What a classifier's checkpoint stores beside the model."""
