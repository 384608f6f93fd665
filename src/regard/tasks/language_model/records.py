"""Schemas of a language model's files: facts in its checkpoint, its scores in run.json."""

from typing import Any

from pydantic import Field

from regard.checkpoint.facts import TaskFacts
from regard.checkpoint.records import Size
from regard.config.records import Count
from regard.tasks.record import ScoresRecord


class LanguageFacts(TaskFacts):
    """Facts of a language model's checkpoint."""

    generate: dict[str, Any] = Field(default_factory=dict)
    window: Size | None = None


class LanguageScores(ScoresRecord):
    """The metrics of a language model on one text."""

    tokens: Count
    loss: float
    perplexity: float
    bits_per_byte: float
    word_perplexity: float
    window: Count
    stride: Count
    test_set: str
