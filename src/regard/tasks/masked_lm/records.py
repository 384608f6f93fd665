"""Schemas of a masked language model's files: facts in its checkpoint, its data in run.json."""

from typing import ClassVar

from pydantic import model_validator

from regard.checkpoint.facts import Length, TaskFacts
from regard.config.records import Count, Record
from regard.data.settings.masking import MaskingSettings
from regard.data.settings.text import SentenceRule
from regard.tasks.record import SetSources
from regard.tasks.text.records import TextFiles, TextReport


class MaskedFacts(TaskFacts):
    """Facts of a masked language model's checkpoint."""

    length: Length | None = None
    sentences: SentenceRule = "marks"
    pack_documents: bool = True
    masking: MaskingSettings = MaskingSettings()
    early_updates: Count = 0

    @model_validator(mode="after")
    def _was_trained_here(self) -> "MaskedFacts":
        if self.seed is not None and self.length is None:
            raise ValueError("length is missing")
        return self


class MaskedSources(SetSources[TextFiles]):
    """The files of every set, and the rule that splits them into sentences."""

    sentences: str


class MaskedReport(TextReport):
    """The data of a masked language model's run."""

    sources: ClassVar[type[Record]] = MaskedSources
