"""Schemas of word vectors' files: facts in a checkpoint, data and scores in run.json."""

from typing import Any, ClassVar

from pydantic import Field

from regard.checkpoint.facts import TaskFacts
from regard.config.records import Count, Record
from regard.tasks.record import DataReport, ScoresRecord
from regard.tasks.text.records import TextCountsRecord, TextFiles


class WordVectorFacts(TaskFacts):
    """Facts of a checkpoint of word vectors."""

    text: dict[str, Any] = Field(default_factory=dict)


class WordSources(Record):
    """The files of the text."""

    train: TextFiles


class WordCountsRecord(TextCountsRecord):
    """The amount of text; `words` are those with a vector, `words_read` all of them."""

    words_read: Count
    pruned_below: Count | None


class WordReport(DataReport):
    """The data of a run of word vectors."""

    sources: ClassVar[type[Record]] = WordSources

    train: WordCountsRecord
    vocabulary: Count
    folder: str

    @property
    def plan(self) -> dict[str, Any]:
        """The number of words with vectors in the text."""
        return {"train_words": self.train.words}


class SectionRecord(Record):
    """Analogies of one kind: all of them, those whose words have vectors, and the accuracy on these."""

    name: str
    questions: Count
    covered: Count
    accuracy: float | None


class VectorScores(ScoresRecord):
    """The evaluation of word vectors on analogies or rated pairs."""

    sections: list[SectionRecord] = Field(default_factory=list)
