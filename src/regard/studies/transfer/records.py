"""The schemas of a transfer study's files: the request, the metrics of each run, and the results."""

from typing import Any

from pydantic import Field, model_validator

from regard.config.records import Count, Record
from regard.studies.folder import StudyRecord


class TransferRecord(StudyRecord):
    """The transfer.json."""

    asked: dict[str, Any]


class CellRecord(Record):
    """The metrics of one run."""

    accuracy: float
    seconds: float
    parameters: Count
    trainable_parameters: Count
    machine: dict[str, Any]
    mix: dict[str, float] | None = None


class MeansRecord(Record):
    """The means of a method over its seeds, for one number of examples."""

    seeds: Count
    accuracy: float | None
    spread: float | None
    seconds: float | None


class ResultRecord(Record):
    """The accuracy of one run, with the one of always choosing the most frequent label."""

    method: str
    size: Count | None
    seed: Count
    accuracy: float
    seconds: float
    majority_baseline: float


class RowRecord(Record):
    """A row of the table: one method."""

    method: str
    trainable_parameters: Count | None
    by_size: list[MeansRecord]


class TransferResults(Record):
    """The results.json of a transfer."""

    is_finished: bool
    done: Count
    of: Count
    sizes: list[Count | None]
    seeds: Count
    train_examples: Count
    failed: dict[str, str]
    table: list[RowRecord]
    cells: list[ResultRecord] = Field(default_factory=list)

    @model_validator(mode="after")
    def _has_a_cell_each(self) -> "TransferResults":
        if any(len(row.by_size) != len(self.sizes) for row in self.table):
            raise ValueError("table has not a column for each of the sizes")
        return self
