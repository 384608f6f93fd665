"""Facts in the checkpoint of a classifier."""

from regard.tasks.finetune.records import LabelFacts, TextFacts


class ClassifyFacts(TextFacts, LabelFacts):
    """Facts of a classifier: its labels, and its texts per example."""
