"""Schemas of a translator's files: facts in its checkpoint, its data and scores in run.json, its passports."""

from typing import Any

from pydantic import Field

from regard.checkpoint.facts import TaskFacts
from regard.config.records import Count, Record
from regard.tasks.record import DataReport, SetSources


class TranslateFacts(TaskFacts):
    """The facts of a translator's checkpoint: its decoding defaults."""

    decode: dict[str, Any] = Field(default_factory=dict)


class PairSourceRecord(Record):
    """The files of one set of pairs."""

    path: str | None = None
    source: str | None = None
    target: str | None = None
    references: list[str] = Field(default_factory=list)
    max_rows: Count | None = None


class PairCounts(Record):
    """Numbers of pairs read, kept, dropped (by reason) and held out."""

    read: Count
    kept: Count
    dropped: dict[str, Count]
    held_out: Count = 0


class PairReport(DataReport):
    """The data of a translation run."""

    sources = SetSources[PairSourceRecord]

    train: PairCounts
    valid: PairCounts

    @property
    def plan(self) -> dict[str, Any]:
        """Numbers of pairs kept and dropped."""
        return {"train_pairs": self.train.kept, "valid_pairs": self.valid.kept, "dropped": self.train.dropped}
