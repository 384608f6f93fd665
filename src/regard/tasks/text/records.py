"""Schemas of running text in run.json: its files and its counts."""

from typing import Any, ClassVar

from regard.config.records import Count, Record
from regard.tasks.record import SetReport, SetSources


class TextFiles(Record):
    """The files of one text."""

    paths: list[str]


class TextCountsRecord(Record):
    """The amount of text in a set."""

    documents: Count
    tokens: Count
    bytes: Count
    words: Count


class TextReport(SetReport[TextCountsRecord]):
    """The data of a run on running text."""

    sources: ClassVar[type[Record]] = SetSources[TextFiles]

    window: Count
    folder: str
    """The folder of the tokenized text; empty: conversations are tokenized in memory."""
    dropped_rows: dict[str, dict[str, Count]] | None = None
    """Conversations dropped or cut, by set and reason; None: running text."""

    @property
    def plan(self) -> dict[str, Any]:
        """The sizes that a dry run prints."""
        return {"train_tokens": self.train.tokens, "valid_tokens": self.valid.tokens, "window": self.window}
