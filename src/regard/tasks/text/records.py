"""Schemas of running text in run.json: its files and its counts."""

from typing import Any, ClassVar

from pydantic import ValidationError, model_validator

from regard.config.records import Count, Record, first_problem
from regard.tasks.record import DataReport


class TextFiles(Record):
    """The files of one text."""

    paths: list[str]


class TextSources(Record):
    """The files of every set."""

    train: TextFiles
    valid: TextFiles | None = None
    test: dict[str, TextFiles]


class TextCountsRecord(Record):
    """The amount of text in a set."""

    documents: Count
    tokens: Count
    bytes: Count
    words: Count


class TextReport(DataReport):
    """The data of a run on running text; further test sets stand beside train and valid as `test NAME`."""

    sources: ClassVar[type[Record]] = TextSources

    train: TextCountsRecord
    valid: TextCountsRecord
    window: Count
    folder: str
    """The folder of the tokenized text; empty: conversations are tokenized in memory."""
    dropped_rows: dict[str, dict[str, Count]] | None = None
    """Conversations dropped or cut, by set and reason; None: running text."""

    @model_validator(mode="after")
    def _counts_every_set(self) -> "TextReport":
        for name, value in (self.model_extra or {}).items():
            if isinstance(value, dict) and "documents" in value:
                try:
                    TextCountsRecord.model_validate(value)
                except ValidationError as error:
                    raise ValueError(first_problem(error, name)) from None
        return self

    @property
    def plan(self) -> dict[str, Any]:
        """The sizes that a dry run prints."""
        return {"train_tokens": self.train.tokens, "valid_tokens": self.valid.tokens, "window": self.window}

    @property
    def sets(self) -> dict[str, TextCountsRecord]:
        """The counts of every set by its name."""
        tests = {
            name: TextCountsRecord.model_validate(value)
            for name, value in (self.model_extra or {}).items()
            if isinstance(value, dict) and "documents" in value
        }
        return {"train": self.train, "valid": self.valid} | tests
