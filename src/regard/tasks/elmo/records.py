"""Schemas of an ELMo's files: facts in its checkpoint, its data in run.json."""

from regard.checkpoint.facts import Positive, TaskFacts
from regard.checkpoint.records import Size
from regard.config.records import Count
from regard.tasks.text.records import TextReport


class ElmoFacts(TaskFacts):
    """Facts of an ELMo's checkpoint."""

    window: Size
    bytes_per_word: Positive
    words: Count


class ElmoReport(TextReport):
    """The data of an ELMo's run."""

    vocabulary: Count
